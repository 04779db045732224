"""The usual shop, our yardstick: what one writes in twenty lines, and what it leaves out.

Plain Flask, redis-py with its defaults, a script that takes the stock and notes the sale, gunicorn
with 2 × 8 threads. No key makes a second press harmless, and its orders are not booked. redis-py
resends a script when its reply was lost, which sells twice. Frozen on 24 November 2026: a yardstick
that changes measures nothing. Its store is USUAL_STORE.
"""

import os
import uuid

import redis
from flask import Flask, request

SELL = """
local left = redis.call('DECRBY', KEYS[1], ARGV[2])
if left < 0 then redis.call('INCRBY', KEYS[1], ARGV[2]) return -1 end
redis.call('XADD', KEYS[2], '*', 'order', ARGV[1], 'quantity', ARGV[2])
return left
"""
Answer = dict[str, object] | tuple[dict[str, object], int]
app = Flask(__name__)
store = redis.Redis.from_url(os.environ["USUAL_STORE"])
sell = store.register_script(SELL)


@app.post("/noop")
def noop() -> Answer:
    request.get_json()
    return {"outcome": "NOOP"}


@app.post("/buy/<item>")
def buy(item: str) -> Answer:
    order, quantity = str(uuid.uuid4()), request.get_json()["quantity"]
    left = sell(keys=[f"usual:{item}:stock", f"usual:{item}:sales"], args=[order, quantity])
    if left < 0:
        return {"outcome": "SOLD_OUT"}, 409
    return {"outcome": "SOLD", "order": order, "left": left}, 201
