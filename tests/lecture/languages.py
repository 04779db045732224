"""How the lecture says in each language what is spoken, waited for and clicked."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests.translations import catalogue

DOCS = Path(__file__).parents[2] / "docs"
HAN = re.compile(r"[\u4e00-\u9fff]")
WORD = re.compile(r"[\w’'-]*[A-Za-z0-9][\w’',.-]*")


def words(text: str) -> int:
    return len(WORD.findall(text))


def characters(text: str) -> int:
    """Chinese ones; a word or a number in Latin letters takes as long as two."""
    return len(HAN.findall(text)) + 2 * len(WORD.findall(HAN.sub(" ", text)))


@dataclass(frozen=True)
class Tongue:
    """`said`, `wait`, `pause` and `named` are patterns with one group, `deed` with one for each."""

    file: Path
    pace: int  # of what `length` counts, a minute
    length: Callable[[str], int]
    said: str
    wait: str  # s for which all look at a machine
    pause: str  # s that the class is given
    named: str  # a text on a page, as it stands in the catalogue
    optional: str  # the heading of a part without a place in the ten minutes
    clicks: tuple[str, ...]  # deeds that take a hand
    meanwhile: str  # the deed of speaking into a wait
    language: str


ENGLISH = Tongue(
    DOCS / "lecture.md",
    pace=140,  # words: a lecture's usual pace, slower than a conversation
    length=words,
    said=r'"([^"]+)"',
    wait=r"\(wait:\s(\d+)\ss\)",
    pause=r"\(class:\s(\d+)\ss\)",
    named=r"(?<!\*)\*([^*]+)\*(?!\*)",
    optional="Optional",
    clicks=("click", "press"),
    meanwhile="say meanwhile",
    language="en",
)
CHINESE = Tongue(
    DOCS / "lecture.zh.md",
    pace=220,  # characters: news are read at 250 to 300; who explains, points and waits is slower
    length=characters,
    said="“([^”]+)”",
    wait=r"（等 (\d+) 秒）",
    pause=r"（留 (\d+) 秒）",
    named="「([^」]+)」",
    optional="选讲",
    clicks=("点击", "按"),
    meanwhile="边等边说",
    language="zh",
)
TONGUES = (ENGLISH, CHINESE)


def texts(tongue: Tongue) -> list[re.Pattern[str]]:
    """What pages say in that language, with any value in its places."""
    found: list[re.Pattern[str]] = []
    for message in catalogue("zh"):
        said = message.string if tongue.language == "zh" else message.id
        for text in (said,) if isinstance(said, str) else said or ():
            pieces = re.split(r"%\(\w+\)s", re.sub(r"</?\w+[^>]*>", "", str(text)))
            if sum(letter.isalpha() for letter in "".join(pieces)) > 1:  # else it fits anything
                found.append(re.compile(".+".join(re.escape(piece) for piece in pieces)))
    return found
