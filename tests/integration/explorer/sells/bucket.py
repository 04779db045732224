"""A bucket of tokens, one for each unit: a buyer that takes one may sell."""


def sell(redis, buyer):
    if redis.set("filled", 1, nx=True):
        for unit in range(int(redis.get("stock"))):
            redis.rpush("tokens", unit)
    if redis.blpop("tokens", timeout=1) is None:
        return False
    with redis.pipeline() as pipe:
        pipe.decr("stock")
        pipe.rpush("orders", buyer)
        pipe.execute()
    return True
