"""A function of a Python file as lines of HTML for the style sheet, without comments."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

from app.service.listing import Function

PREFIX = "py-"  # of the classes
ASIDE = re.compile(rf' *<span class="{PREFIX}(?:c1|sd)">[^<]*</span>')  # comments and docstrings
JOINT = re.compile(rf'<span class="{PREFIX}[op]">[.(]</span>')  # where a long name may be broken
PLAIN = re.compile(rf'<span class="{PREFIX}(?:n|o|p|bp|nb|w)">([^<]*)</span>')  # without a colour
TAG = re.compile(r"<[^>]+>")
INDENT = re.compile(r"^ +")  # half as wide in a narrow column


class Line(NamedTuple):
    number: int  # in its file, from 1
    html: str


@lru_cache(500)
def lines(source: str, function: Function) -> list[Line]:
    """Those of one function that do something; all that is special in HTML is escaped."""
    return [
        Line(number, _shown(html, function.indent))
        for number, html in enumerate(_coloured(source), 1)
        if function.first <= number <= function.last and TAG.sub("", html).strip()
    ]


@lru_cache(100)
def _coloured(source: str) -> list[str]:
    # stripnl: an empty line at the beginning counts as a line, too.
    lexer = PythonLexer(stripnl=False)
    text: str = highlight(source, lexer, HtmlFormatter(nowrap=True, classprefix=PREFIX))
    return ASIDE.sub("", text).split("\n")


def _shown(line: str, indent: int) -> str:
    """As if the function stood at the file's edge."""
    line = PLAIN.sub(r"\1", JOINT.sub(r"\g<0><wbr>", line))
    return INDENT.sub(r'<span class="indent">\g<0></span>', line[indent:])
