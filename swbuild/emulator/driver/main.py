"""What the stand-in compilers run: ``python -SEs main.py --tool NAME --machine M --home DIR arguments…``."""

import sys

import compiler

if __name__ == "__main__":
    sys.exit(compiler.main(sys.argv[1:]))
