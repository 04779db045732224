"""hotqueue, redis-simple-mq and PyRSMQ: which client gets the only message?"""

from hotqueue import HotQueue
from rsmq import RedisSMQ
from rsmq.cmd.exceptions import NoMessageInQueue
from simple_mq import SimpleMQ

from matrix.inside import once


def hot(redis):
    return HotQueue("q", connection_pool=redis.connection_pool)


def get(redis):
    return hot(redis).get()


def put(redis):
    hot(redis).put("job")


def dequeue(redis):
    return SimpleMQ(redis, "q").dequeue()


def enqueue(redis):
    SimpleMQ(redis, "q").enqueue("job")


def receive(redis):
    try:
        message = RedisSMQ(client=redis, qname="q").receiveMessage(vt=30).execute()["message"]
    except NoMessageInQueue:
        return None
    return message.decode() if isinstance(message, bytes) else message


def send(redis):
    queue = RedisSMQ(client=redis, qname="q")
    queue.createQueue().execute()
    queue.sendMessage(message="job").execute()


QUEUE = {"kind": "queue", "invariant": once, "faults": "crash=1,lost=1"}
ENTRIES = (
    QUEUE
    | {
        "library": "hotqueue",
        "what": "one message, received by three",
        "claim": "Simple FIFO message queue stored in a Redis list.",
        "setup": put,
        "actors": [get] * 3,
    },
    QUEUE
    | {
        "library": "redis-simple-mq",
        "what": "one message, dequeued by three",
        "claim": "A simple FIFO message queue using Redis.",
        "setup": enqueue,
        "actors": [dequeue] * 3,
    },
    QUEUE
    | {
        "library": "PyRSMQ",
        "what": "one message, received by three",
        "claim": 'the message is kept in the queue, but is marked "invisible" for some amount of '
        "time.",
        "setup": send,
        "actors": [receive] * 3,
    },
)
