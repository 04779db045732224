"""What these tests do: sell, kill a worker, call the command."""

from __future__ import annotations

from click.testing import CliRunner, Result

from app.bootstrap import Services
from app.cli import main
from app.config import SETTINGS
from app.domain import Outcome
from app.service.purchase import Purchase


def sold(worker: Purchase, times: int) -> None:
    for _ in range(times):
        assert worker.buy("apple", 1).sale.outcome is Outcome.SOLD


def killed(services: Services, worker: Purchase) -> None:
    """It remembers nothing any more."""
    worker.reporter.stop()
    services.servers.met.clear()


def lastapple(services: Services, *words: str) -> Result:
    unset: dict[str, str | None] = {row.name.upper(): None for row in SETTINGS}
    own = {"REDIS_URL": services.settings.redis_url, "VAR_DIR": services.settings.var_dir}
    return CliRunner(env=unset | own).invoke(main, words)
