"""Yardsticks for modes without a script that decides: the plain WATCH loop, and python-redis-lock.

Like the usual shop, but gunicorn has as many threads as ours. PEER says which; frozen with it.
"""

import os
import random
import time
import uuid

import redis
from flask import Flask, request

BACKOFF, CAP, ATTEMPTS = 0.001, 0.256, 64  # s; full jitter, as our mode `watch` has it
Answer = tuple[dict[str, object], int]
SOLD_OUT: Answer = ({"outcome": "SOLD_OUT"}, 409)
store = redis.Redis.from_url(os.environ["USUAL_STORE"], decode_responses=True)
app = Flask(__name__)


def write(pipe: redis.client.Pipeline, item: str, left: int, quantity: int) -> Answer:
    order = str(uuid.uuid4())
    pipe.multi()
    pipe.set(f"usual:{item}:stock", left)
    pipe.xadd(f"usual:{item}:sales", {"order": order, "quantity": quantity})
    pipe.execute()
    return {"outcome": "SOLD", "order": order, "left": left}, 201


def watch(item: str, quantity: int) -> Answer:
    for attempt in range(1, ATTEMPTS + 1):
        with store.pipeline() as pipe:
            try:
                pipe.watch(f"usual:{item}:stock")
                left = int(str(pipe.get(f"usual:{item}:stock"))) - quantity
                return SOLD_OUT if left < 0 else write(pipe, item, left, quantity)
            except redis.WatchError:
                time.sleep(random.random() * min(CAP, BACKOFF * 2**attempt))  # noqa: S311  jitter, not secrets
    return {"outcome": "BUSY"}, 503


def lock(item: str, quantity: int) -> Answer:
    import redis_lock  # installed by `make install-dev`

    with redis_lock.Lock(store, f"usual:{item}:lock", expire=10):
        left = int(str(store.get(f"usual:{item}:stock"))) - quantity
        return SOLD_OUT if left < 0 else write(store.pipeline(), item, left, quantity)


sell = {"watch": watch, "lock": lock}[os.environ["PEER"]]


@app.post("/noop")
def noop() -> dict[str, object]:
    return {"outcome": "NOOP"}


@app.post("/buy/<item>")
def buy(item: str) -> Answer:
    return sell(item, request.get_json()["quantity"])
