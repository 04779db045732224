"""The buyer's cookie: signed, and believed whatever the clock says."""

from __future__ import annotations

from flask import Flask
from flask.sessions import SecureCookieSession, SecureCookieSessionInterface, SessionMixin
from flask.wrappers import Request, Response
from itsdangerous import BadSignature

from app.web.proxies import secure


class Sessions(SecureCookieSessionInterface):
    def get_cookie_secure(self, app: Flask) -> bool:
        return secure()

    def open_session(self, app: Flask, request: Request) -> SecureCookieSession | None:
        """Without Flask's look at when it was signed: browsers drop it when its year is over.

        A worker whose clock is behind would take a cookie from another for one of the future, and
        its buyer for a stranger, whose second press is no second press.
        """
        # A program sends none: to make the serializer is a fifth of what an empty request costs.
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
        """A session that nobody has looked at is as it was: no cookie, no Vary."""
        if session.accessed or session.modified:
            super().save_session(app, session, response)
