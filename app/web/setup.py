"""A bare Flask application with our limits, cookie, errors and headers."""

from __future__ import annotations

from datetime import timedelta

from flask import Flask

from app.config import Settings
from app.service.secret import secret
from app.web import answers, parse


def flask_app(settings: Settings, error_page: str) -> Flask:
    """`error_page` is the template that shows an error to a person."""
    app = Flask("app.web")
    app.config.update(
        SECRET_KEY=secret(settings),
        SESSION_COOKIE_NAME="buyer",
        SESSION_COOKIE_SAMESITE="Lax",
        PERMANENT_SESSION_LIFETIME=timedelta(days=365),
        MAX_CONTENT_LENGTH=parse.LARGEST_BODY,
    )
    app.context_processor(
        lambda: {"shop_url": settings.shop_address, "lab_url": settings.lab_address}
    )
    answers.register(app, error_page)
    return app
