"""A bare Flask application with our addresses, limits, cookie, errors and headers.

A request's id is in its answer, problem, log lines and order. The id is ours, or a trusted proxy's
(TRUSTED_PROXIES), so that the proxy's log has it, too. An id that a client chooses is not used: two
sales could have the same.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from typing import Any

from flask import Flask
from flask.sessions import SecureCookieSession, SecureCookieSessionInterface, SessionMixin
from flask.wrappers import Request, Response
from itsdangerous import BadSignature

from app.config import Settings
from app.ops.shared_settings import secret
from app.server import addresses, answers, language, parse, translation
from app.server.proxies import believe, secure
from app.service.request import GOOD, current, new_id
from app.text import Text

HEADER = "X-Request-Id"


def give_request_ids(app: Flask, trusted: bool) -> None:
    """Give each request its id; `trusted`: a proxy before us may set it.

    This wraps the application: a function that Flask calls before each request, after it and at its
    end costs six times as much. Log lines of a stream after its first part have no id.
    """
    answers = app.wsgi_app

    def with_id(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        sent = environ.get("HTTP_X_REQUEST_ID", "") if trusted else ""
        id = sent if sent and GOOD.fullmatch(sent) else new_id()

        def begin(status: str, headers: list[tuple[str, str]], *error: Any) -> Any:
            headers.append((HEADER, id))
            return start_response(status, headers, *error)

        current.set(id)
        try:
            return answers(environ, begin)
        finally:
            current.set("")

    app.wsgi_app = with_id  # type: ignore[method-assign]  # as Flask documents it
    app.context_processor(lambda: {"request_id": current.get()})


class Sessions(SecureCookieSessionInterface):
    def get_cookie_secure(self, app: Flask) -> bool:
        return secure()

    def open_session(self, app: Flask, request: Request) -> SecureCookieSession | None:
        """Read the cookie without Flask's check of its age: browsers drop it after its year.

        A worker whose clock is behind would take another worker's cookie for one from the future.
        It would take the buyer for a stranger, whose second press would then buy again.
        """
        # A program sends no cookie: the serializer would cost a fifth of an empty request.
        sent = "HTTP_COOKIE" in request.environ and request.cookies.get(self.get_cookie_name(app))
        if not sent:
            return self.session_class()
        serializer = self.get_signing_serializer(app)
        if serializer is None:
            return super().open_session(app, request)
        try:
            return self.session_class(serializer.loads(sent))
        except BadSignature:
            return self.session_class()

    def save_session(self, app: Flask, session: SessionMixin, response: Response) -> None:
        """Save the session only if it was read or changed: else no cookie, and no Vary."""
        if session.accessed or session.modified:
            super().save_session(app, session, response)


def flask_app(settings: Settings, error_page: str, failed_press: Text, proxies: int = 0) -> Flask:
    """Return a Flask application that trusts `proxies` proxies before it.

    `error_page` is the template that shows an error to a person; `failed_press` see answers.
    """
    app = addresses.Addressed()
    app.session_interface = Sessions()
    app.config.update(
        SECRET_KEY=secret(settings),
        SECRET_KEY_FALLBACKS=[settings.secret_key_old] if settings.secret_key_old else [],
        SESSION_COOKIE_NAME="buyer",
        SESSION_COOKIE_SAMESITE="Lax",
        PERMANENT_SESSION_LIFETIME=timedelta(days=365),
        # Only an answer that changes the cookie sends it: an answer to a request before a purchase
        # that arrives after it must not restore the old cookie.
        SESSION_REFRESH_EACH_REQUEST=False,
        MAX_CONTENT_LENGTH=parse.LARGEST_BODY,
    )
    app.context_processor(
        lambda: {"shop_url": settings.shop_address, "lab_url": settings.lab_address}
    )
    give_request_ids(app, trusted=proxies > 0)
    believe(app, proxies)
    language.register(app)
    translation.register(app)
    answers.register(app, error_page, failed_press)
    return app
