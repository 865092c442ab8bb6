"""`python -m exactmha`."""

from exactmha.cli.main import main

main()
