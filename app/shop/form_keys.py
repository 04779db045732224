"""The idempotency keys of our own forms: signed, to distinguish them from all others.

A browser that sends no cookie is known only by the form it presses: pressed again, the form has the
same buyer, who gets the same order. The books have the key without its signature, so that one key
has one spelling there.
"""

from __future__ import annotations

from contextlib import suppress
from functools import cache

from flask import current_app
from itsdangerous import BadSignature, Signer

from app.domain import Invalid
from app.domain.ids import draw_id
from app.service.selling import MARK
from app.text import Text


def new_key() -> str:
    """Return a new signed key for one form: the form pressed twice buys once."""
    return sign(draw_id())


def sign(key: str) -> str:
    """Return a key as a form carries it. Never sign a key from a request: it would become ours."""
    return _signer(current_app.config["SECRET_KEY"], "key").sign(key).decode()


def read(sent: str) -> tuple[str, str]:
    """Return the key for the books, and the buyer who presses its form without a cookie.

    A key from no form of ours is used unchanged; its buyer is "". Raises Invalid when it looks like
    a ticket: a client that could invent tickets could buy any number of times.
    """
    config = current_app.config
    for secret in (config["SECRET_KEY"], *config["SECRET_KEY_FALLBACKS"]):
        with suppress(BadSignature):
            key = _signer(secret, "key").unsign(sent)
            # Derived from the secret that signed it: at every host a form has the same buyer.
            return key.decode(), _signer(secret, "buyer").get_signature(key).decode()
    if sent.startswith(MARK):
        ours = Text("A key that begins with %(mark)s is made by the shop only.", mark=MARK)
        raise Invalid({"key": ours})
    return sent, ""


@cache
def _signer(secret: str, purpose: str) -> Signer:
    """Return a signer with a salt for each purpose: a form's signature does not tell its buyer."""
    return Signer(secret, salt=f"form's {purpose}")
