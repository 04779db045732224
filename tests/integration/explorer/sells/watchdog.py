"""A lease, and a thread that renews it during the sale."""

import threading
import uuid

RELEASE = """
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end
return 0
"""


def sell(redis, buyer):
    token = str(uuid.uuid4())
    stop = threading.Event()

    def renew():
        while not stop.wait(3):
            redis.expire("lock", 10)

    while not redis.set("lock", token, nx=True, ex=10):
        pass
    watchdog = threading.Thread(target=renew, daemon=True)
    watchdog.start()
    try:
        left = int(redis.get("stock"))
        if left < 1:
            return False
        redis.set("stock", left - 1)
        redis.rpush("orders", buyer)
        return True
    finally:
        stop.set()
        watchdog.join()
        redis.eval(RELEASE, 1, "lock", token)
