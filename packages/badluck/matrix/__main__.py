"""`python -m matrix`: explore all, replay findings on real servers, write page and scripts.

python -m matrix LIBRARY …     explore only these; for the others keep the last results
"""

from __future__ import annotations

import json
import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from multiprocessing import get_context
from pathlib import Path

from badluck.functions.parallel_searches import cores

from matrix.entry import entries
from matrix.page import page
from matrix.row import MatrixRow, explored_row

RESULTS = Path(__file__).with_name("results.json")
PAGE = Path(__file__).parents[3] / "docs" / "libraries-matrix.md"


def results() -> list[MatrixRow]:
    """Read the rows of the last run."""
    return [MatrixRow(**row) for row in json.loads(RESULTS.read_text(encoding="utf-8"))]


def main(wanted: list[str]) -> None:
    known = {} if not wanted else {(entry.library, entry.what): entry for entry in results()}
    rows: list[MatrixRow | None] = [known.get((entry.library, entry.what)) for entry in entries()]
    chosen = [n for n, entry in enumerate(entries()) if not wanted or entry.library in wanted]
    with ProcessPoolExecutor(cores(), get_context("spawn")) as pool:
        for number, entry in zip(chosen, pool.map(explored_row, chosen), strict=True):
            print(entry.library, entry.what, entry.verdict, sep=": ", flush=True)
            rows[number] = entry
    write(list(filter(None, rows)))


def write(found: list[MatrixRow]) -> None:
    """Write the page, and the results from which it can be made again, one line for each entry."""
    members = ({name: value for name, value in asdict(row).items() if value} for row in found)
    lines = (json.dumps(row, ensure_ascii=False) for row in members)
    RESULTS.write_text("[\n" + ",\n".join(lines) + "\n]\n", encoding="utf-8")
    PAGE.write_text(page(found), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
