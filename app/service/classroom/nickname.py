"""The nickname of a phone on the projector."""

from __future__ import annotations

import re
import unicodedata

from app.domain import Invalid
from app.text import Text

LONGEST_NAME = 20  # characters; it must fit next to two hundred others on a projector
# Letters and signs by Unicode that show nothing: the fillers of Hangul, the Braille cell
# without a dot, the null notehead, the blanks of hieroglyphs.
BLANK = frozenset("\u115f\u1160\u3164\uffa0\u2800\U0001d159\U00013441\U00013442")


def nickname(text: str) -> str:
    """Return the nickname as shown: composed, no superfluous spaces. Raises Invalid.

    Control and format characters are refused: one that turns the direction of writing would also
    turn the names after it. So is a name of accents and blanks only: it would be invisible.
    """
    name = re.sub(r"\s+", " ", unicodedata.normalize("NFC", text[:1_000])).strip()
    if not name:
        raise Invalid({"name": Text("Choose a nickname.")})
    if len(name) > LONGEST_NAME:
        too_long = Text("A nickname has %(most)s characters at most.", most=LONGEST_NAME)
        raise Invalid({"name": too_long})
    is_visible = any(unicodedata.category(sign)[0] in "LNPS" for sign in name)
    if not is_visible or not name.isprintable() or not BLANK.isdisjoint(name):
        raise Invalid({"name": Text("A nickname has letters, digits and signs that can be seen.")})
    return name
