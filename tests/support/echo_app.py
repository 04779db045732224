"""A small application behind the workers of shop and lab; requests and answers may take 1 s."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from flask import Flask, Response, request

from app.lab import worker
from app.server import gate, parse

vars(gate).update(REQUEST=1, ANSWER=1)
vars(worker).update(REQUEST=1, ANSWER=1)

app = Flask(__name__)
app.config["MAX_CONTENT_LENGTH"] = parse.LARGEST_BODY


@app.route("/", methods=["GET", "POST"])
def echo() -> Response:
    """Return the body; the number on the command line of `/?12` is how much more."""
    return Response(request.get_data() + b"x" * int(request.query_string or 0))


@app.post("/told")
def told() -> Response:
    """Read the body as the shop does."""
    parse.body(request)
    return Response("")


@app.get("/stream")
def stream() -> Response:
    def lines() -> Iterator[bytes]:
        while True:
            yield b"on"
            time.sleep(0.1)

    return Response(lines())


@app.get("/files")
def files() -> Response:
    """Take all files that this process may open, for a second; return how many they were."""
    held = []
    with suppress(OSError):
        while True:
            held.append(os.open("/dev/null", os.O_RDONLY))
    time.sleep(1)
    for file in held:
        os.close(file)
    return Response(str(len(held)))


@app.get("/slow")
def slow() -> Response:
    time.sleep(0.5)
    return Response("slow")


@app.get("/stall")
def stall() -> Response:
    """Block the loop after the next client has been let in, for longer than clients have."""
    wait = gate.Gate._wait

    def slowly(self: gate.Gate, conn: Any, event: int, then: Any, seconds: float) -> None:
        wait(self, conn, event, then, seconds)
        if seconds == vars(gate)["REQUEST"]:  # a newcomer
            gate.Gate._wait = wait  # type: ignore[method-assign]
            time.sleep(1.2)

    gate.Gate._wait = slowly  # type: ignore[method-assign]
    return Response("")


@app.get("/pid")
def pid() -> Response:
    return Response(str(os.getpid()))


@app.get("/cpu")
def cpu() -> Response:
    """Return the seconds of CPU that this process has had."""
    return Response(str(time.process_time()))
