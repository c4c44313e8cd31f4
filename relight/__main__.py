"""`python -m relight`: the same program as `relight`."""

from relight.commands import main

if __name__ == "__main__":
    main()
