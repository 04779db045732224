"""Errors for the caller of a search."""


class BadluckError(Exception):
    """The text says what went wrong, and what to do about it if that is known."""


class BadCode(BadluckError):
    """The explored code has an error; with its file, line and source."""
