"""A buyer that finds the lock taken listens for the message that it is free."""


def sell(redis, buyer):
    with redis.pubsub() as listener:
        listener.subscribe("free")
        while not redis.set("lock", buyer, nx=True):
            listener.get_message(timeout=1)
    left = int(redis.get("stock"))
    if left > 0:
        redis.decr("stock")
        redis.rpush("orders", buyer)
    redis.delete("lock")
    redis.publish("free", "go")
    return left > 0
