"""Python source as lines of HTML, its words marked for the style sheet."""

from __future__ import annotations

import re
from functools import cache

from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

PREFIX = "py-"  # of the classes
INDENT = re.compile(r"^ +", re.MULTILINE)  # half as wide in a narrow column
JOINT = re.compile(rf'<span class="{PREFIX}[op]">[.(]</span>')  # where a long name may be broken


@cache
def lines(source: str) -> list[str]:
    """One for each line of `source`; all that is special in HTML is escaped."""
    # stripnl: an empty line at the beginning counts as a line, too.
    lexer = PythonLexer(stripnl=False)
    text: str = highlight(source, lexer, HtmlFormatter(nowrap=True, classprefix=PREFIX))
    text = INDENT.sub(r'<span class="indent">\g<0></span>', text.rstrip("\n"))
    return JOINT.sub(r"\g<0><wbr>", text).split("\n")
