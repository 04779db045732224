"""Like naive.py, with asyncio."""

import asyncio


async def sell(redis, buyer):
    stock, _ = await asyncio.gather(redis.get("stock"), asyncio.sleep(0.1))
    if int(stock) < 1:
        return False
    await redis.set("stock", int(stock) - 1)
    await redis.rpush("orders", buyer)
    return True
