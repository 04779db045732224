"""Every mode and recipe has its page with all five parts, or says which it lacks."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from app.domain import UnknownWay
from app.explorer.findings import FINDINGS
from app.explorer.matrix import AGAIN, COLUMNS, NONE_STARVES, PREVENTED, read
from app.lab import sources as reading
from app.lab.sources import timelines
from app.lab.sources.source import TOP
from app.locks import LOCKS
from app.modes import MODES, Way

PAGE = (TOP / "docs" / "matrix.md").read_text()
MATRIX = read(PAGE.partition("<!-- matrix -->\n")[2].partition("<!-- end of matrix -->")[0])
IN_SQL = {target for target in reading.ways() if Way.of(target).needs in ("database", "rows")}
EACH = pytest.mark.parametrize("target", reading.ways())


def test_all_modes_then_all_recipes_in_teaching_order() -> None:
    assert list(reading.ways()) == [*MODES, *(f"lock:{name}" for name in LOCKS)]


@EACH
def test_its_own_file_comes_first(target: str, tmp_path: Path) -> None:
    page = reading.page(target, tmp_path)
    name = target.rpartition(":")[2]
    folder = "locks" if ":" in target else "modes"
    assert page.files[0].path == f"app/{folder}/{name}.py"
    assert page.files[0].text[0].startswith(f'"""{name}: ')


@EACH
def test_the_scripts_that_it_sends_are_there(target: str, tmp_path: Path) -> None:
    first, *others = reading.page(target, tmp_path).files
    sent = re.findall(r'lua\.source\("(\w+)"\)', "\n".join(first.text))
    assert {f"app/store/lua/{name}.lua" for name in sent} <= {file.path for file in others}


def test_the_whole_of_queue_is_there(tmp_path: Path) -> None:
    paths = {file.path for file in reading.page("lock:queue", tmp_path).files}
    library = TOP / "packages/fairlock/src/fairlock"
    whole = [TOP / "app/locks/queue.py", *library.glob("[!_]*.py"), *library.glob("lua/*.lua")]
    assert paths == {path.relative_to(TOP).as_posix() for path in whole}


@EACH
def test_a_recipe_shows_what_its_lock_guards(target: str, tmp_path: Path) -> None:
    section = reading.page(target, tmp_path).section
    assert (section is not None) == (":" in target)
    if section:
        assert section.text[0].strip().startswith("def critical_section(")
        whole = (TOP / section.path).read_text().splitlines()
        assert section.text == whole[section.first - 1 :][: len(section.lines)]


@EACH
def test_its_timelines(target: str, tmp_path: Path) -> None:
    drawn = reading.page(target, tmp_path).drawn
    assert (TOP / drawn.page).exists()
    if ":" in target:
        assert {one.title for one in drawn.timelines} >= {"When all goes well", "How it fails"}
        assert drawn.by_hand == (target == "lock:zookeeper")
    elif target in IN_SQL | {"lock"}:
        assert drawn.timelines == [], "the page says why"
    else:
        [one] = drawn.timelines
        assert one.finding in FINDINGS
        assert one.column in COLUMNS
    assert not any("```" in one.text for one in drawn.timelines)


def _none(column: str) -> str:
    return NONE_STARVES if column == AGAIN else PREVENTED


@EACH
def test_its_rows_of_the_matrix_are_the_readmes(target: str, tmp_path: Path) -> None:
    found = reading.page(target, tmp_path).matrix
    written = {
        f"`{row.target}`{row.note and f', {row.note}'}": {
            cell.column: f"{cell.finding} {cell.cost}" if cell.finding else _none(cell.column)
            for cell in row.cells
        }
        for row in found.rows
    }
    wanted = {
        name: cells
        for name, cells in MATRIX.items()
        if re.match(rf"`{target}`" if target != "lock" else "`lock:", name)
    }
    assert written == wanted
    assert all(list(cells) == [*COLUMNS, AGAIN] for cells in written.values())
    if not found.rows:
        assert found.kept_in == Way.of(target).needs
        assert (found.kept_in == "zookeeper") == (target not in IN_SQL)


def test_each_of_the_five_tutorials_teaches_some(tmp_path: Path) -> None:
    taught = [reading.page(target, tmp_path).tutorials for target in reading.ways()]
    assert {number for numbers in taught for number in numbers} == {1, 2, 3, 4, 5}


def test_an_installation_without_docs_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(timelines, "DOCS", TOP / "no such folder")
    for find in (timelines._of_recipe, timelines._of_mode):
        found = find.__wrapped__("lease")
        assert found.missing
        assert found.timelines == []


@pytest.mark.parametrize(
    ("name", "instead"),
    [
        ("", "There are naive, .*lock:queue"),
        ("lease", "Did you mean lock:lease?"),
        ("lock:", "Did you mean lock?"),
        ("lock:lease:x", "Did you mean lock:lease?"),
        ("../modes/watch", "There are naive, .*lock:queue"),
        ("watch.py", "Did you mean watch?"),
        ("WATCH", "Did you mean watch?"),
        ("x" * 900, "There are naive, .*lock:queue"),
    ],
)
def test_what_is_not_in_the_catalogue_is_not_looked_for(
    name: str, instead: str, tmp_path: Path
) -> None:
    with pytest.raises(UnknownWay, match=instead) as error:
        reading.page(name, tmp_path)
    assert len(str(error.value)) < 600
    for pair in ((name, "watch"), ("watch", name)):
        with pytest.raises(UnknownWay):
            reading.compare(*pair)
