"""A lease with a new token at every try, and patience that ends."""

import random
import time
from datetime import datetime


def sell(redis, buyer):
    began = time.monotonic()
    while time.monotonic() < began + 5:
        token = f"{buyer}-{random.randint(0, 10**12)}"
        if redis.set("lock", token, nx=True, px=10_000):
            break
        time.sleep(random.uniform(0.01, 0.05))
    else:
        return None
    left = int(redis.get("stock"))
    if left > 0:
        redis.hset("sold", buyer, datetime.now().isoformat())
        pipe = redis.pipeline(transaction=True)
        pipe.decr("stock").rpush("orders", buyer).execute()
    if redis.get("lock") == token.encode():
        redis.delete("lock")
    return left > 0
