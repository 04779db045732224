"""The lab's pages packed for the way: the Explorer's hold a mode's source once for each buyer.

Only the lab's. The shop's are small, and packing a page that holds keys beside what its visitor
sends lets who listens guess them by its length (BREACH); a page of the lab holds no secret.
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
