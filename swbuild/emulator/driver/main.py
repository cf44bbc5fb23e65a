"""What the stand-ins run: ``python -SEs main.py --tool NAME --machine M --home DIR --include DIR --root DIR arguments…``."""

import sys

if __name__ == "__main__":
    if sys.argv[2] in ("bsub", "swrun"):
        import launch

        sys.exit(launch.main(sys.argv[1:]))
    import compiler

    sys.exit(compiler.main(sys.argv[1:]))
