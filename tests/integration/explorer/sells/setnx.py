import time


def sell(redis, buyer):
    while not redis.setnx("lock", buyer):
        time.sleep(0.01)
    try:
        left = int(redis.get("stock"))
        if left < 1:
            return False
        redis.set("stock", left - 1)
        redis.rpush("orders", buyer)
        return True
    finally:
        redis.delete("lock")
