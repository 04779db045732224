from redis.exceptions import WatchError


def sell(redis, buyer):
    with redis.pipeline() as pipe:
        while True:
            try:
                pipe.watch("stock")
                left = int(pipe.get("stock"))
                if left < 1:
                    return False
                pipe.multi()
                pipe.set("stock", left - 1)
                pipe.rpush("orders", buyer)
                pipe.execute()
                return True
            except WatchError:
                continue
