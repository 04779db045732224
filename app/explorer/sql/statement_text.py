"""Statements and their results as a person reads them in a chart."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

PARAMETER = re.compile(r"%\((\w+)\)s(?:::\w+)*")
TABLE = re.compile(r"\b(?:stock|receipts|orders|units)\.(?=[\"\w])")
# There is only one item and one round, so the conditions that ask for them are left out.
ROUND = re.compile(r"\b(?:item|round|started) = \S+(?: AND )?")
MANY_COLUMNS = re.compile(r"(?<=^SELECT )\w+(?:, \w+){3,}")
INSERT = re.compile(r"^(INSERT INTO \w+) \(.*?\) VALUES \((.*)\)$")
FEW = 3  # values that are all written


def statement(sql: str, parameters: object) -> str:
    """Return `UPDATE stock SET units=(units - 1) WHERE units >= 1`: with values and short names."""
    values = parameters if isinstance(parameters, Mapping) else {}
    text = PARAMETER.sub(lambda parameter: _value(values.get(parameter[1])), " ".join(sql.split()))
    text = " ".join(ROUND.sub("", TABLE.sub("", text)).split())
    text = re.sub(r" (?:WHERE|AND)(?= (?:RETURNING|FOR)|$)", "", text)
    text = MANY_COLUMNS.sub("…", text)
    if insert := INSERT.match(text):
        listed = insert[2].split(", ")
        more = ", …" if len(listed) > FEW else ""
        text = f"{insert[1]} VALUES ({', '.join(listed[:FEW])}{more})"
    return text


def _value(value: object) -> str:
    return f"'{value}'" if isinstance(value, str) else str(value)


def result(cursor: Any) -> str:
    """Return the result in psycopg's `cursor`: its rows, or `UPDATE 1` where there are none."""
    if cursor.description is None:
        return str(cursor.statusmessage)
    rows = cursor.fetchall()
    if rows:
        cursor.scroll(0, mode="absolute")  # the mode has yet to read them
    names = [column.name for column in cursor.description]
    return "; ".join(_row(names, row) for row in rows) or "no row"


def _row(names: list[str], row: tuple[object, ...]) -> str:
    if len(row) > FEW:
        return f"{row[0]}, …"
    return ", ".join(f"{name} {str(value).lower()}" for name, value in zip(names, row, strict=True))


def error(error: Any) -> str:
    """Return psycopg's error in the server's words, with its SQLSTATE."""
    message = error.diag.message_primary or str(error).strip()
    return f"ERROR {error.sqlstate}: {message}" if error.sqlstate else f"ERROR: {message}"
