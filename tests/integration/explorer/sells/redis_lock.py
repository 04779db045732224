def sell(redis, buyer):
    with redis.lock("stock-lock", timeout=10):
        left = int(redis.get("stock"))
        if left < 1:
            return False
        with redis.pipeline() as pipe:
            pipe.set("stock", left - 1)
            pipe.rpush("orders", buyer)
            pipe.execute()
        return True
