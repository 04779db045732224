"""Compress the lab's pages: the Explorer's contain a mode's source once for each buyer.

Only the lab does so. The shop's pages are small. And compressing a page that contains both keys and
its visitor's input lets an eavesdropper guess the keys by its length (BREACH); a page of the lab
contains no secret.
"""

from __future__ import annotations

import gzip

from flask import Flask, Response, request

LEVEL = 6  # 106 KB become 10 in 2 ms


def register(app: Flask) -> None:
    @app.after_request
    def pack(answer: Response) -> Response:
        if answer.mimetype != "text/html":
            return answer
        answer.vary.add("Accept-Encoding")
        if request.accept_encodings.quality("gzip"):
            answer.set_data(gzip.compress(answer.get_data(), LEVEL))
            answer.headers["Content-Encoding"] = "gzip"
        return answer
