def sell(redis, buyer):
    left = int(redis.get("stock"))
    if left < 1:
        return False
    redis.set("stock", left - 1)
    redis.rpush("orders", buyer)
    return True
