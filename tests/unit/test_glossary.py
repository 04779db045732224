"""The Chinese catalogue uses each term of docs/glossary.zh.md, the same one everywhere."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.translations import catalogue
from tests.unit.test_translations import forms

GLOSSARY = Path(__file__).parents[2] / "docs" / "glossary.zh.md"
ROW = re.compile(r"^\| (?!英文|---)(.+?) \| (.+?) \| (.+?) \|$", re.MULTILINE)
# What stays English: values, names, paths, tags, statements, commands of a terminal.
KEPT = re.compile(r"%\(\w+\)s|`[^`]*`|\S+/\S+|<a .*?</a>|\b[A-Z]{2,}\b|lastapple \w+")
# A noun to count with ("%(num)s 次") and a verb are other words than the label.
ALSO_OTHERWISE = {"attempts", "buyers", "crashes", "repeats"}


class Term(NamedTuple):
    english: list[str]  # a capital: only a whole text; otherwise wherever it occurs
    chinese: list[str]  # one of these
    rejected: list[str]


class Said(NamedTuple):
    english: str
    chinese: str


TERMS = [
    Term(english.split(", "), chinese.split("、"), rejected.split("、"))
    for english, chinese, rejected in ROW.findall(GLOSSARY.read_text())
]


def texts() -> Iterator[Said]:
    for message in catalogue("zh"):
        ids = message.id if isinstance(message.id, tuple) else (message.id,)
        yield from (Said(str(each), forms(message)[0]) for each in ids if each)


def bare(text: str) -> str:
    """Return the label without its final punctuation."""
    return re.sub(r"[\s.…:。：]+$", "", text)


def wrong(term: Term, said: Said) -> bool:
    """Is the term in the English, and none of its words in the Chinese?"""
    plain = KEPT.sub(" ", said.english)
    for english in term.english:
        if english[0].isupper() and bare(said.english) == english:
            return bare(said.chinese) not in term.chinese
        if english[0].islower() and re.search(rf"\b{re.escape(english)}\b", plain, re.IGNORECASE):
            return not any(chinese in said.chinese for chinese in term.chinese)
    return False


@pytest.mark.parametrize("term", TERMS, ids=lambda term: term.english[0])
def test_a_term_is_said_as_the_glossary_says_it(term: Term) -> None:
    assert [said for said in texts() if wrong(term, said)] == []


@pytest.mark.parametrize("term", TERMS, ids=lambda term: term.english[0])
def test_no_text_uses_a_rejected_word(term: Term) -> None:
    said = [(word, each.chinese) for each in texts() for word in term.rejected]
    assert [pair for pair in said if pair[0] in pair[1]] == []


def test_one_label_is_one_label_everywhere() -> None:
    found = defaultdict(set)
    for said in texts():
        found[bare(said.english).casefold()].add(bare(said.chinese))
    assert {name for name, words in found.items() if len(words) > 1} == ALSO_OTHERWISE


def test_such_texts_are_found() -> None:
    lease = next(term for term in TERMS if "lease" in term.english)
    assert wrong(lease, Said("Its lease is over", "它的时间到了"))
    assert not wrong(lease, Said("Its lease is over", "租约已到期"))
    assert not wrong(lease, Said("as with `lease`", "与 `lease` 相同"))
    patience = next(term for term in TERMS if "Patience" in term.english)
    assert wrong(patience, Said("Patience", "耐心"))
    assert not wrong(patience, Said("patience runs out", "等待超时"))
    assert "耐心" in patience.rejected


CHINESE, LATIN = r"[\u4e00-\u9fff]", r"[A-Za-z0-9`]"
SPACING = re.compile(
    rf"{CHINESE}{LATIN}|{LATIN}{CHINESE}|[，。：；、！？）”] | [，。：；、！？（“]"
)
HALF_WIDTH = re.compile(rf"{CHINESE}[,;:?!()]|[,;:?!()]{CHINESE}")
ADDRESS = "主机:端口"  # as it is typed


def test_chinese_and_latin_stand_apart_and_punctuation_is_full_width() -> None:
    for said in texts():
        plain = re.sub(r"%\(\w+\)s", "□", re.sub(r"<.*?>", "", said.chinese))
        assert not SPACING.search(plain), said.chinese
        assert not HALF_WIDTH.search(plain.replace(ADDRESS, "")), said.chinese
