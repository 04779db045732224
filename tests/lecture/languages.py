"""The marks for spoken text, waits and clicks on the lecture's page, in each language."""

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
    """Count Chinese characters; a word or a number in Latin letters counts as two."""
    return len(HAN.findall(text)) + 2 * len(WORD.findall(HAN.sub(" ", text)))


@dataclass(frozen=True)
class Tongue:
    """One language of the lecture; `said`, `wait`, `pause`, `named` are patterns with one group."""

    file: Path
    pace: int  # units of `length` per minute
    length: Callable[[str], int]
    said: str
    wait: str  # s until the machine is done
    pause: str  # s for the class to answer
    named: str  # a text on a page, as in the catalogue
    optional: str  # heads a part outside of the ten minutes
    clicks: tuple[str, ...]  # instructions that count as a click
    meanwhile: str  # the instruction to speak during a wait
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
    pace=220,  # characters: news are read at 250 to 300; a speaker that explains is slower
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
    """Return a pattern for each text of the pages; any value fits its placeholders."""
    found: list[re.Pattern[str]] = []
    for message in catalogue("zh"):
        said = message.string if tongue.language == "zh" else message.id
        for text in (said,) if isinstance(said, str) else said or ():
            pieces = re.split(r"%\(\w+\)s", re.sub(r"</?\w+[^>]*>", "", str(text)))
            if sum(letter.isalpha() for letter in "".join(pieces)) > 1:  # else it fits any text
                found.append(re.compile(".+".join(re.escape(piece) for piece in pieces)))
    return found
