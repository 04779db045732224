"""docs/questions.md: each exploration shows what the page says."""

from __future__ import annotations

import re
import shlex
from contextlib import chdir
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest
from click.testing import CliRunner

from app.cli import main
from app.explorer.targets import in_sql

DOCS = Path(__file__).parents[3] / "docs"
PAGES = ("questions.md", "questions.zh.md")
CODE = re.compile(r"`(\w+\.py)`[^`]*```python\n(.+?)```", re.DOTALL)
COMMAND = re.compile(r"^ +\.venv/bin/lastapple (explore .+)$", re.MULTILINE)
SEEN = re.compile(r"\*\*(?:Seen|看到)\*\*(.+?)(?=\n\n)", re.DOTALL)
# In capitals as a finding or a fault; in code as it is printed; counts.
FACT = re.compile(
    r"\b(?:OVERSELL|STUCK FOREVER|STARVED|PHANTOM ORDER|NEGATIVE STOCK|ALL PAUSE)\b"
    r"|(?<=`)(?:nothing goes|no buyer can|this script)[^`]+(?=`)"
    r"|\d[\d,]* (?=schedules|种执行顺序)|\d+ (?=states|个状态)"
)


def sections(page: str) -> list[tuple[str, str]]:
    """Return each question's number, and all below it."""
    text = (DOCS / page).read_text() + "\n\n### "
    marks = [found.start() for found in re.finditer(r"^### ", text, re.MULTILINE)]
    pieces = [text[begins:ends] for begins, ends in pairwise(marks)]
    return [(piece[4:].partition(".")[0], piece) for piece in pieces]


@cache
def printed(words: str, folder: Path) -> str:
    with chdir(folder):
        found = CliRunner(env={"COLUMNS": "1000"}).invoke(main, shlex.split(words, comments=True))
    return re.sub(r"\s+", " ", found.output)


@pytest.fixture(scope="session")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("desk")


@pytest.mark.parametrize(
    "section",
    [
        pytest.param(text, id=f"{page}-{number}")
        for page in PAGES
        for number, text in sections(page)
        if COMMAND.search(text)
    ],
)
def test_what_is_said_to_be_seen_is_printed(section: str, desk: Path) -> None:
    for name, code in CODE.findall(section):
        (desk / name).write_text(code)
    commands = [each for each in COMMAND.findall(section) if not in_sql(each.split()[1])]
    said = "\n".join(printed(each, desk) for each in commands)
    facts = {
        re.sub(r"\s+", " ", fact) for seen in SEEN.findall(section) for fact in FACT.findall(seen)
    }
    assert not commands or facts, "nothing is said to be seen"
    assert [fact for fact in facts if fact not in said] == []


def test_both_languages_show_the_same() -> None:
    english, chinese = (
        [(COMMAND.findall(text), CODE.findall(text)) for _, text in sections(page)]
        for page in PAGES
    )
    assert len(english) == 20
    uncommented = [[re.sub(" *#.*", "", each) for each in found] for found, _ in english]
    assert uncommented == [[re.sub(" *#.*", "", each) for each in found] for found, _ in chinese]
    assert [code for _, code in english] == [code for _, code in chinese]
