"""Errors in the user's own code, as the command line shows them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from app.domain import Invalid
from app.explorer.errors import BadSell
from app.explorer.student import Student


class TheirError(click.ClickException):
    exit_code = 2


@contextmanager
def their_errors() -> Iterator[None]:
    try:
        yield
    except BadSell as error:
        raise TheirError(str(error)) from error


def student(file: str, stock: int, quantity: int, resend: bool) -> Student:
    """Return the user's file. Raises Invalid."""
    path = Path(file).resolve()
    if not path.is_file():
        raise Invalid({"target": f"There is no file {file}."})
    if quantity != 1:
        raise Invalid({"quantity": "--quantity: a sell(redis, buyer) sells one unit."})
    code = Student(path, stock, resend)
    try:
        code.identity()
    except OSError as error:
        raise Invalid({"target": f"{file} cannot be read: {error.strerror}."}) from error
    return code
