"""`lastapple audit --repair`: show a repair, planned or done."""

from __future__ import annotations

import click

from app.cli import output
from app.service.repair import Mend, RepairPlan, RoundFigures

TO_DO = 4  # the exit status while a repair is still to do, as after an audit that found the loss
LOST = (
    "a worker had told its buyer of it; it was not paid for, or its key has bought: it stays lost"
)
UNKNOWABLE = (
    "A sale stays unknown if it is neither in the store nor in the books, and its worker is gone, "
    "too. It counts as not sold; its buyer can show the order's number."
)


def repair(mend: Mend, item: str, really: bool, json_wanted: bool) -> int:
    """Plan the repair or, if `really`, do it; print it and return the exit status."""
    plan = mend.do(item) if really else mend.plan(item)
    if json_wanted:
        output.print_json(_document(item, plan, really))
    elif plan is None:
        click.echo(f"The store lacks nothing of {item} that anybody has seen: nothing to mend.")
    else:
        _print(item, plan, really)
    return 0 if plan is None or really else TO_DO


def _print(item: str, plan: RepairPlan, done: bool) -> None:
    click.echo(plan.lack.what)
    for each in plan.rounds:
        click.echo(_line(each, done))
        for order in each.written.brought_back:
            click.echo(f"    comes back: order {order.id}, which a worker had told its buyer of")
    if back := len(plan.orders.back):
        come = "orders come" if back > 1 else "order comes"
        click.echo(f"  {back:,} {come} back into the database: the store still knew")
    for number, count in plan.orders.gone.items():
        if count:
            are = "orders are" if count > 1 else "order is"
            click.echo(f"  round {number}: {count:,} {are} lost: neither database nor store knows")
    for number in plan.unknown:
        click.echo(f"  round {number}: the stock at its start is unknown; its figures stay lost")
    for order in plan.lost:
        click.echo(f"  order {order.id} of round {order.round}: {LOST}")
    click.echo(UNKNOWABLE)
    if done:
        click.echo(f"Mended. {item} can be sold again, in a new round: lastapple round start.")
    else:
        click.echo(f"Nothing was changed. To do it: lastapple audit {item} --repair --yes")


def _line(each: RoundFigures, done: bool) -> str:
    round = each.round
    heading = f"  round {round.number}, mode {round.mode}: "
    if each.written.left is None:
        return heading + f"its record; its {each.booked:,} orders are in the database"
    before = "unknown to the store" if each.remains.left is None else f"{each.remains.left:,}"
    held = f", {each.held:,} held" if each.held else ""
    waiting = f", {each.waiting:,} waiting to be booked" if each.waiting else ""
    is_now = "is" if done else "becomes"
    return heading + (
        f"{each.sold:,} of {round.stock:,} sold ({each.booked:,} booked{waiting}){held}; "
        f"left was {before}, {is_now} {each.written.left:,}"
    )


def _document(item: str, plan: RepairPlan | None, done: bool) -> dict[str, object]:
    if plan is None:
        return {"item": item, "lack": None, "mended": False, "rounds": []}
    return {
        "item": item,
        "lack": plan.lack.what,
        "mended": done,
        "rounds": [
            {
                "round": each.round.number,
                "mode": each.round.mode,
                "stocked": each.round.stock,
                "sold": each.sold,
                "held": each.held,
                "booked": each.booked,
                "waiting": each.waiting,
                "brought_back": [order.id for order in each.written.brought_back],
                "left_before": each.remains.left,
                "left": each.written.left,
                "gone": each.gone,
            }
            for each in plan.rounds
        ],
        "unknown_rounds": plan.unknown,
        "lost": [order.id for order in plan.lost],
        "orders_brought_back": [order.id for order in plan.orders.back],
        "orders_lost": plan.orders.gone,
        "unknowable": UNKNOWABLE,
    }
