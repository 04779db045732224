"""Automatic pipelining for redis-py: threads that send at the same moment share one packet.

Redis       in the place of redis.Redis: the same arguments and methods

client.py   Redis: which command goes the shared way
own.py      the commands that cannot share a connection, and why
line.py     how threads share one: flat combining
call.py     one command under way
wire.py     the shared connection
"""

from autopipe.client import Redis

__all__ = ["Redis"]
