"""`python -m scoregate`."""

from scoregate.cli.entry import main

if __name__ == "__main__":
    main()
