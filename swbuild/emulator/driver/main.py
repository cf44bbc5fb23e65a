"""What the stand-ins run: ``main.py --tool N --machine F --home D --include D --root D arguments…``."""

import sys

if __name__ == "__main__":
    if sys.argv[2] in ("bsub", "swrun"):
        import launch

        sys.exit(launch.main(sys.argv[1:]))
    if sys.argv[2].endswith("ld"):
        import relocatable

        sys.exit(relocatable.main(sys.argv[2], sys.argv[11:]))
    import signal

    import compiler

    for number in (signal.SIGTERM, signal.SIGHUP):  # leave no intermediate files
        signal.signal(number, lambda number, frame: sys.exit(128 + number))
    sys.exit(compiler.main(sys.argv[1:]))
