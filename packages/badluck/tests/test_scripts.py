"""Scripts of the model: a Ctrl-C reaches the caller, which waits for them."""

from __future__ import annotations

import pytest
from badluck.model.scripts import Lua, sha
from badluck.model.server import ModelServer
from badluck.model.values import Err
from badluck.target import EPOCH


@pytest.mark.parametrize(
    "text",
    [
        b"return redis.call('GET', 'k')",
        b"pcall(redis.call, 'GET', 'k') return 1",
        b"for i = 1, 3 do pcall(function() redis.pcall('GET', 'k') end) end return 1",
    ],
)
def test_an_interrupt_is_no_error_of_the_script(
    text: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wherever it comes: here, while the answer is converted to a value of Lua's."""
    scripts = Lua()

    def interrupted(_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(scripts, "_value", interrupted)
    with pytest.raises(KeyboardInterrupt):
        scripts.run(text, (), (), lambda _: b"x")
    monkeypatch.undo()
    assert scripts.run(b"return redis.call('GET', 'k')", (), (), lambda _: b"x") == b"x"


def test_a_script_is_known_in_the_states_after_it_came_alone() -> None:
    """Otherwise a client that sends EVALSHA first would never get NOSCRIPT in later orders."""
    text, server = b"return 1", ModelServer(EPOCH)
    before = server.state()
    assert server.execute("0", (b"EVAL", text, b"0")) == 1
    after = server.state()
    by_name = (b"EVALSHA", sha(text), b"0")
    server.load(before)
    assert isinstance(server.execute("0", by_name), Err)
    server.load(after)
    assert server.execute("0", by_name) == 1
