"""`python -m app.cli` is `lastapple`."""

from app.cli import main

main(prog_name="lastapple")
