"""How the command line speaks: errors in one line, tables for people, JSON for programs."""

from __future__ import annotations

import os
from typing import Any

import click
import orjson

from app import Parts
from app.config import BadSetting, Settings
from app.domain import Invalid, ShopError, StoreAway, UnknownItem

as_json = click.option("--json", "json_wanted", is_flag=True, help="Print JSON and nothing else.")


class Commands(click.Group):
    """Turns our errors into one clear line: status 2 for bad input, 1 for everything else."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except (BadSetting, Invalid, UnknownItem) as error:
            raise click.UsageError(str(error)) from error
        except StoreAway as error:
            raise click.ClickException(
                f"{error} Is the shop up (make run)? If REDIS_URL is set: does its server run?"
            ) from error
        except ShopError as error:
            raise click.ClickException(str(error)) from error


def settings() -> Settings:
    """Raises BadSetting."""
    return Settings.read(os.environ)


def parts() -> Parts:
    return Parts(settings())


def print_json(document: Any) -> None:
    click.echo(orjson.dumps(document, option=orjson.OPT_INDENT_2).decode())
