"""What a script makes of its own replies, in the model and on real servers."""

from __future__ import annotations

import pytest
import redis

from app.explorer.gate import native
from app.explorer.model.server import Server, Waits
from app.explorer.targets import EPOCH
from tests.servers import StoreServer

SCRIPTS = [
    "return redis.status_reply('FINE')",
    "return {redis.status_reply('so so'), 1, redis.error_reply('SOLD out')}",
    "return redis.error_reply('SOLD out')",
    "return redis.error_reply('-SOLD out')",
    "return redis.error_reply('SOLD')",
]


@pytest.mark.parametrize("text", SCRIPTS)
def test_the_same(store_server: StoreServer, text: str) -> None:
    modelled = Server(EPOCH).execute("", (b"EVAL", text.encode(), b"0"))
    assert not isinstance(modelled, Waits)
    with redis.Redis.from_url(store_server.url, protocol=2) as client:
        try:
            real = client.eval(text, 0)
        except redis.ResponseError as error:
            real = error
    assert repr(real) == repr(native(modelled))
