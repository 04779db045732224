"""Errors for the caller of a search."""


class BadluckError(Exception):
    """The text says what went wrong, and what to do about it where that is known."""


class BadCode(BadluckError):
    """Something is wrong with the code that is explored; with its file, line and source."""
