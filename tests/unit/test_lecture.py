"""Ten minutes are ten, in both languages, and the pages have what the lecture names."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from tests.lecture.languages import CHINESE, ENGLISH, TONGUES, Tongue, texts
from tests.lecture.plan import TEN, parts
from tests.lecture.scenes import SCENES

EACH = pytest.mark.parametrize("tongue", TONGUES, ids=lambda tongue: tongue.language)
AIR = 10  # s of each part in which nothing is planned, as the page says
QUESTIONS = {"en": "questions.md", "zh": "questions.zh.md"}


@EACH
def test_what_is_said_and_waited_for_fits_into_each_part(tongue: Tongue) -> None:
    for part in parts(tongue):
        assert part.takes() + AIR <= part.has, part.title


@EACH
def test_all_but_the_optional_parts_fill_ten_minutes(tongue: Tongue) -> None:
    fixed = [part for part in parts(tongue) if part.begins is not None]
    assert fixed[0].begins == 0
    assert sum(part.has for part in fixed) == TEN
    assert len(fixed) == 8
    assert all(part.has > 0 and part.said for part in fixed)


def test_one_paragraph_more_does_not_fit(tmp_path: Path) -> None:
    """Each part has less spare time than a minute of speech."""
    longer = tmp_path / "lecture.md"
    text = ENGLISH.file.read_text()
    longer.write_text(text.replace('**Say** "', '**Say** "' + "one word more " * 47))
    assert [part.title for part in parts(replace(ENGLISH, file=longer)) if part.takes() > part.has]


def test_both_languages_plan_the_same() -> None:
    def plan(tongue: Tongue) -> list[object]:
        return [
            (part.begins, part.has, part.clicks, part.paused, [w.announced for w in part.waits])
            for part in parts(tongue)
        ]

    assert plan(ENGLISH) == plan(CHINESE)


def test_each_part_is_played_by_make_lecture() -> None:
    assert [part.title for part in parts(ENGLISH)] == list(SCENES)


def named(tongue: Tongue, name: str) -> list[str]:
    text = re.sub(r"^    .*$", "", (tongue.file.parent / name).read_text(), flags=re.MULTILINE)
    return [re.sub(r"\s+", " ", each).strip() for each in re.findall(tongue.named, text)]


@EACH
@pytest.mark.parametrize("page", ["lecture", "questions"])
def test_what_is_named_stands_on_a_page_of_the_lab_or_a_phone(tongue: Tongue, page: str) -> None:
    known = texts(tongue)
    name = tongue.file.name if page == "lecture" else QUESTIONS[tongue.language]
    there = named(tongue, name)
    assert len(there) > 10
    assert [each for each in there if not any(text.fullmatch(each) for text in known)] == []
