"""The idempotency keys of our own forms: signed, so that they are told from all others.

A browser that sends no cookie is known by the form it presses, and by nothing else: pressed again
it is the same buyer, who gets that order. The books have the key without its signature, so that one
key has one spelling there.
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
    """A key for one form; the same press of the button never buys twice."""
    return sign(draw_id())


def sign(key: str) -> str:
    """As a form carries it. Never sign what a request says: it would become one of ours."""
    return _signer(current_app.config["SECRET_KEY"], "key").sign(key).decode()


def read(sent: str) -> tuple[str, str]:
    """(the key in the books, the buyer who presses its form without a cookie).

    A key that no form of ours carries is taken as it is; its buyer is "". Raises Invalid when it
    looks like a ticket: whoever could make one up would buy as often as that.
    """
    config = current_app.config
    for secret in (config["SECRET_KEY"], *config["SECRET_KEY_FALLBACKS"]):
        with suppress(BadSignature):
            key = _signer(secret, "key").unsign(sent)
            # By the secret that signed it: at every host a form is the same buyer's.
            return key.decode(), _signer(secret, "buyer").get_signature(key).decode()
    if sent.startswith(MARK):
        ours = Text("A key that begins with %(mark)s is made by the shop only.", mark=MARK)
        raise Invalid({"key": ours})
    return sent, ""


@cache
def _signer(secret: str, purpose: str) -> Signer:
    """A salt for each purpose: the signature in a form does not tell its buyer."""
    return Signer(secret, salt=f"form's {purpose}")
