"""Functions, and their twins that are `async def`. Each actor imports this, so it is small."""

from __future__ import annotations

import asyncio
import threading

from redis import Redis
from redis.asyncio import Redis as AsyncRedis
from redis.asyncio.client import Pipeline as AsyncPipeline
from redis.client import Pipeline


def counts(redis: Redis) -> None:
    redis.set("n", int(redis.get("n") or 0) + 1)


async def counts_later(redis: AsyncRedis) -> None:
    redis_says = await redis.get("n")
    await redis.set("n", int(redis_says or 0) + 1)


def watches(redis: Redis) -> None:
    def one_more(pipe: Pipeline) -> None:
        count = int(pipe.get("n") or 0) + 1
        pipe.multi()
        pipe.set("n", count)

    redis.transaction(one_more, "n")


async def watches_later(redis: AsyncRedis) -> None:
    async def one_more(pipe: AsyncPipeline) -> None:
        count = int(await pipe.get("n") or 0) + 1
        pipe.multi()
        pipe.set("n", count)

    await redis.transaction(one_more, "n")


def locks(redis: Redis) -> None:
    with redis.lock("lock", timeout=5):
        counts(redis)


async def locks_later(redis: AsyncRedis) -> None:
    async with redis.lock("lock", timeout=5):
        await counts_later(redis)


def polls(redis: Redis) -> None:
    while not redis.set("lock", "me", nx=True):
        pass
    counts(redis)
    redis.delete("lock")


async def polls_later(redis: AsyncRedis) -> None:
    while not await redis.set("lock", "me", nx=True):
        await asyncio.sleep(0.1)
    await counts_later(redis)
    await redis.delete("lock")


def in_threads(redis: Redis) -> None:
    both = [threading.Thread(target=counts, args=(redis,)) for _ in range(2)]
    for one in both:
        one.start()
    for one in both:
        one.join()


async def gathers(redis: AsyncRedis) -> None:
    await asyncio.gather(counts_later(redis), counts_later(redis))


async def groups(redis: AsyncRedis) -> None:
    async with asyncio.TaskGroup() as group:
        group.create_task(counts_later(redis))
        group.create_task(counts_later(redis))


async def gathers_in_turn(redis: AsyncRedis) -> None:
    lock = asyncio.Lock()

    async def in_turn() -> None:
        async with lock:
            await counts_later(redis)

    await asyncio.gather(in_turn(), in_turn())


async def gathers_watching(redis: AsyncRedis) -> None:
    await asyncio.gather(watches_later(redis), watches_later(redis))
