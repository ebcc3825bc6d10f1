"""`python -m scoregate`."""

from scoregate.cli.main import main

main()
