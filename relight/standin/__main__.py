"""Run the stand-in engine: `python3 -m relight.standin ARGS`, or the zipapp's entry."""

from relight.standin.command import main

if __name__ == "__main__":
    raise SystemExit(main())
