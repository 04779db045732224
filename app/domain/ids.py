"""Ids that protect what they name: a buyer that knows an order's id may pay or cancel it."""

from __future__ import annotations

import time

import uuid_utils


def draw_id() -> str:
    """Return a UUIDv7: the time in ms, then 74 random bits.

    With the time left to the library, ids of one millisecond count up, and 32 bits are random.
    """
    return str(uuid_utils.uuid7(nanoseconds=time.time_ns()))
