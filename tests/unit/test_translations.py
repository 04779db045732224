"""The catalogues hold all texts of the code, translated, and no others."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from pathlib import Path

import pytest
from babel.messages.catalog import Catalog, Message

from app.lab.sources import ways
from app.server.language import LANGUAGES
from app.text import Text, counted
from tests.translations import catalogue, gather

APP = Path(__file__).parents[2] / "app"
TEMPLATES = sorted(APP.rglob("*.html"))
SCRIPTS = sorted((APP / "static").rglob("*.js"))
SPOKEN = {"alt", "aria-label", "aria-description", "placeholder", "title", "value"}
WORD = re.compile(r"[A-Za-z]{2,}")

gathered = cache(gather)


@pytest.fixture(params=list(LANGUAGES)[1:])
def known(request: pytest.FixtureRequest) -> Catalog:
    return catalogue(request.param)


def messages(catalogue: Catalog) -> dict[object, Message]:
    return {message.id: message for message in catalogue if message.id}


def test_every_text_is_in_the_catalogue_and_no_other(known: Catalog) -> None:
    said, there = set(messages(gathered())), set(messages(known))
    assert said - there == set(), "new texts: run make translations, then translate them"
    assert there - said == set(), "texts that nobody says any more: run make translations"
    assert not known.obsolete


def test_every_text_is_translated_and_looked_at(known: Catalog) -> None:
    for id, message in messages(known).items():
        assert all(forms(message)), f"not translated: {id!r}"
        assert not message.fuzzy, f"not looked at: {id!r}"


def test_exhibits_have_a_translated_label_without_their_warning(known: Catalog) -> None:
    there = messages(known)
    assert [name for name, entry in ways().items() if entry.label not in there] == []


def test_translations_keep_the_values_and_the_tags(known: Catalog) -> None:
    for id, message in messages(known).items():
        ids = id if isinstance(id, tuple) else (id,)
        wanted = {slots(str(each)) for each in ids}
        assert len(wanted) == 1, id
        assert {slots(each) for each in forms(message)} == wanted, id


def test_values_come_as_words() -> None:
    """A number is formatted by its language before it is filled in: "1,234" would fit no %d."""
    for id in messages(gathered()):
        for text in id if isinstance(id, tuple) else (id,):
            assert re.findall(r"%\(\w+\)[^s]", str(text)) == []


def forms(message: Message) -> list[str]:
    """Return the forms for 1 and for more; most messages have only one."""
    string = message.string
    return [string or ""] if isinstance(string, str | None) else [each or "" for each in string]


def slots(text: str) -> tuple[str, ...]:
    return tuple(sorted(re.findall(r"%\(\w+\)\w|%%|</?\w+>", text)))


class Words(HTMLParser):
    """Collects the text that a page's reader sees."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self.silent = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.silent += tag in ("code", "style")
        self.found += [value or "" for name, value in attrs if name in SPOKEN]

    def handle_endtag(self, tag: str) -> None:
        self.silent -= tag in ("code", "style")

    def handle_data(self, data: str) -> None:
        if not self.silent:
            self.found.append(data)


def untold(template: str) -> list[str]:
    """Return a template's words that no translator sees: those outside of every `_()`."""
    source = re.sub(r"{#.*?#}", "", template, flags=re.DOTALL)
    source = re.sub(r"{% *trans.*?endtrans *%}", "", source, flags=re.DOTALL)
    words = Words()
    words.feed(re.sub(r"{{.*?}}|{%.*?%}", "", source, flags=re.DOTALL))
    texts = [re.sub(r'[\w-]+="[^"]*"', "", text) for text in words.found]  # a macro of attributes
    return [text.strip() for text in texts if WORD.search(text)]


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda path: path.name)
def test_templates_have_no_words_of_their_own(template: Path) -> None:
    assert untold(template.read_text()) == []


def test_such_words_are_found() -> None:
    page = '<p class="x">{% if a %}{{ _("yes") }}{% else %}No apples{% endif %}<code>naive</code>'
    assert untold(page) == ["No apples"]
    assert untold('<nav aria-label="Lab" class="wide"></nav>') == ["Lab"]


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_scripts_have_no_words_of_their_own(script: Path) -> None:
    """Their texts are in the page, in a <template>."""
    code = re.sub(r"/\*.*?\*/|^\s*//.*$", "", script.read_text(), flags=re.DOTALL | re.MULTILINE)
    assert [text for text in strings(code) if re.search(r"[A-Za-z]{2,}[ ,]+[a-z]{2,}", text)] == []


def test_python_says_text_and_never_gettext() -> None:
    """gettext of a filled-in sentence would find nothing, and stay English."""
    said = [path.name for path in APP.rglob("*.py") if "gettext" in path.read_text()]
    assert said == ["translation.py"]


def strings(code: str) -> Iterator[str]:
    for found in re.finditer(r"\"([^\"\n]*)\"|'([^'\n]*)'|`([^`]*)`", code):
        yield re.sub(r"\$\{[^}]*\}", "", found[1] or found[2] or found[3] or "")


def test_a_text_is_its_english_sentence() -> None:
    text = Text("Sold %(sold)s of %(stocked)s.", sold=1200, stocked=7)
    assert text == "Sold 1,200 of 7."
    assert text.template == "Sold %(sold)s of %(stocked)s."
    assert Text("100 % juice") == "100 % juice"
    assert Text("There are %(known)s.", known=["naive", 1200]) == "There are naive, 1,200."
    assert [counted("%(num)s apple", "%(num)s apples", num) for num in (0, 1, 2)] == [
        "0 apples",
        "1 apple",
        "2 apples",
    ]
