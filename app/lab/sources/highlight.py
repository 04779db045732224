"""A file's text in pieces, each with its kind, so that a style sheet can colour it."""

from __future__ import annotations

from typing import Any, NamedTuple

from pygments.lexers.python import PythonLexer
from pygments.lexers.scripting import LuaLexer
from pygments.token import Token

# Pygments' kinds of token, and ours: few, as each needs a colour that is readable on both grounds.
# The first kind that fits a token counts.
KINDS = (
    (Token.Comment, "comment"),
    (Token.Literal.String.Doc, "doc"),
    (Token.Literal.String, "string"),
    (Token.Literal.Number, "number"),
    (Token.Keyword, "keyword"),
    (Token.Operator.Word, "keyword"),
    (Token.Name.Decorator, "decorator"),
    (Token.Name.Class, "named"),
    (Token.Name.Function, "named"),
)
LEXERS: dict[str, type[PythonLexer] | type[LuaLexer]] = {".py": PythonLexer, ".lua": LuaLexer}


class Piece(NamedTuple):
    """Some characters of one line. `kind` is one of KINDS, "" for plain text."""

    text: str
    kind: str = ""
    changed: bool = False  # not in the line that it is compared with


Line = tuple[Piece, ...]  # without its end


def highlight(text: str, suffix: str) -> list[Line]:
    """Return the lines of a file whose name ends with `suffix` (.py, .lua)."""
    lexer = LEXERS[suffix](stripnl=False, ensurenl=False)
    lines: list[list[Piece]] = [[]]
    for token, piece in lexer.get_tokens(text):
        for nth, part in enumerate(piece.split("\n")):
            if nth:
                lines.append([])
            if part:
                lines[-1].append(Piece(part, _kind(token)))
    if not lines[-1]:
        lines.pop()  # the file ends with the end of a line
    return [tuple(line) for line in lines]


def _kind(token: Any) -> str:
    return next((kind for known, kind in KINDS if token in known), "")
