"""Last Apple: `create_shop` and `create_lab` are the two WSGI applications.

They import what they need when they are called, as most commands need neither.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from app.config import Settings

if TYPE_CHECKING:
    from flask import Flask


def create_shop(settings: Settings | None = None) -> Flask:
    """Return the customers' server."""
    from app.bootstrap import Services
    from app.server import answers, health, hosts, rate
    from app.server.contract import views
    from app.server.setup import flask_app
    from app.shop import classroom
    from app.shop import payments as holding
    from app.shop import views as shop
    from app.shop.contract import SIDE

    settings = settings or Settings.read(os.environ)
    services = Services(settings)
    app = flask_app(settings, "shop/answer.html", answers.AWAY, settings.trusted_proxies)
    app.config["SESSION_COOKIE_SECURE"] = settings.shop_url.startswith("https://")
    hosts.refuse_others(app, settings.shop_host, [*settings.other_hosts, settings.shop_name])
    app.register_blueprint(views.blueprint(SIDE, "shop/base.html"))
    purchase = services.purchase()
    app.register_blueprint(health.blueprint(services.readiness))
    ask = rate.limiter(app, settings.shop_rate)
    app.register_blueprint(shop.blueprint(purchase, services.rounds, services.order_lookup, ask))
    app.register_blueprint(
        holding.blueprint(services.holds, services.order_lookup, services.consistency.pairing)
    )
    app.register_blueprint(
        classroom.blueprint(purchase, services.rounds, services.members, services.notices)
    )
    return app


def create_lab(settings: Settings | None = None) -> Flask:
    """Return the instructor's server."""
    from app.bootstrap import Services
    from app.lab import access
    from app.lab import compression as packed
    from app.lab.classroom import views as classroom
    from app.lab.classroom.addresses import shop_addresses
    from app.lab.comparison import history
    from app.lab.comparison import views as compare
    from app.lab.contract import SIDE
    from app.lab.explorer import search_views as explorer_search
    from app.lab.explorer import views as explorer
    from app.lab.explorer.searches import Explorer
    from app.lab.rounds import views as rounds
    from app.lab.sources import views as read
    from app.lab.stampede import views as stampede
    from app.lab.stampede.drivers import Drivers
    from app.lab.transactions import views as transactions
    from app.lab.transactions.recordings import Recordings
    from app.ops.shared_settings import lab_token
    from app.server import answers, health, hosts
    from app.server.contract import views
    from app.server.metrics import scrape
    from app.server.setup import flask_app

    settings = settings or Settings.read(os.environ)
    services = Services(settings)
    app = flask_app(settings, "lab/answer.html", answers.UNSURE)
    if word := lab_token(settings):
        access.require_token(app, word)  # a client with the token may use any host name
    else:
        # A page elsewhere could call a name of its own 127.0.0.1 and then pass for our origin.
        hosts.refuse_others(app, settings.lab_host, settings.other_hosts)
    access.refuse_other_sites(app)
    app.register_blueprint(views.blueprint(SIDE, "lab/base.html"))
    app.register_blueprint(health.blueprint(services.readiness))
    app.register_blueprint(scrape.blueprint(services.metrics))
    app.context_processor(lambda: {"complaints": lambda: services.readiness.look().complaints})
    app.register_blueprint(
        rounds.blueprint(services.rounds, services.auditor, services.dead_letters, services.about)
    )
    app.register_blueprint(rounds.holds_blueprint(services.rounds, services.holds))
    app.register_blueprint(read.blueprint(settings.var, services.comparisons))
    app.extensions["explorer"] = Explorer(settings.own_sell)
    app.register_blueprint(explorer.blueprint(app.extensions["explorer"]))
    app.register_blueprint(explorer_search.blueprint(app.extensions["explorer"]))
    drivers = Drivers(settings)
    app.register_blueprint(stampede.blueprint(services.runs, drivers))
    app.register_blueprint(compare.blueprint(services.comparisons, drivers))
    app.register_blueprint(history.blueprint(services.comparisons))
    app.register_blueprint(
        classroom.blueprint(services.class_sale, services.members, lambda: shop_addresses(settings))
    )
    app.extensions["recordings"] = Recordings()
    app.register_blueprint(transactions.blueprint(app.extensions["recordings"]))
    packed.register(app)
    return app
