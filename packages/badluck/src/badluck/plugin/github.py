"""Annotations of GitHub Actions: a line that it shows beside the code.

https://docs.github.com/actions/reference/workflow-commands-for-github-actions
"""

from __future__ import annotations

MESSAGE = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
PROPERTY = {**MESSAGE, **str.maketrans({":": "%3A", ",": "%2C"})}


def error(file: str, line: int, title: str, message: str) -> str:
    """`file` is relative to the repository."""
    file, title = file.translate(PROPERTY), title.translate(PROPERTY)
    return f"::error file={file},line={line},title={title}::{message.translate(MESSAGE)}"
