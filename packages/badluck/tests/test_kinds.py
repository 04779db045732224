"""The pages of kinds: the wrong code prints what its page shows; the right code holds."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest
from badluck import ExploreResult, explore

PAGES = sorted((Path(__file__).parents[1] / "kinds").glob("*.md"))


def parts(page: Path) -> list[str]:
    """Return the wrong code, the question, the printed output, the right code."""
    found = re.findall(r"^```(?:python)?\n(.*?)^```$", page.read_text(), re.DOTALL | re.MULTILINE)
    assert len(found) == 4
    return found


def asked(question: str, code: str, file: Path) -> ExploreResult:
    """Ask the question as a test that has imported `file`."""
    file.write_text(code)
    module = _imported(file)
    names = {"explore": explore, "__name__": "question", **_functions(module)}
    found: ExploreResult = eval(question.strip(), names)  # noqa: S307  a page of ours
    return found


def _imported(file: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _functions(module: ModuleType) -> dict[str, object]:
    return {name: one for name, one in vars(module).items() if callable(one)}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_kind(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wrong, question, printed, right = parts(page)
    name = page.stem.replace("-", "_")
    for code, verdict in ((wrong, "fails"), (right, "holds")):
        file = tmp_path / verdict / f"{name}.py"
        file.parent.mkdir()
        with monkeypatch.context() as path:
            path.syspath_prepend(file.parent)
            result = asked(question, code, file)
        assert result.verdict == verdict, result
        if verdict == "fails":
            assert str(result).startswith(printed)


def test_every_kind_is_listed() -> None:
    readme = (Path(__file__).parents[1] / "README.md").read_text()
    assert len(PAGES) == 10
    assert all(f"](kinds/{page.name})" in readme for page in PAGES)
