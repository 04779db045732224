"""Buyers for Locust: a stampede on one item, with the outcomes as rows of their own.

    locust -f loadtest/buyers.py                                       web UI on port 8089
    locust -f loadtest/buyers.py --headless --users 32 --run-time 10s
    locust -f loadtest/buyers.py --item pear --processes 2             or --master / --worker

A closed workload: every buyer sends the next purchase when the last one is answered, without a
pause. So the shop sets the pace, and a slow shop is asked less often. What this cannot show is
the queue of an open workload, in which buyers arrive whether or not the shop keeps up.

A shop with SHOP_RATE limits all but those on its own machine: buyers elsewhere need it empty.
"""

from __future__ import annotations

from urllib.parse import quote

from locust import FastHttpUser, constant, events, task
from locust.argument_parser import LocustArgumentParser

from loadtest.answers import ERROR, ShopAnswer, read

BODY = '{"quantity":1}'
HEADERS = {"Content-Type": "application/json", "Accept": "application/json"}


@events.init_command_line_parser.add_listener
def add_item(parser: LocustArgumentParser) -> None:
    parser.add_argument(
        "--item", default="apple", env_var="LOCUST_ITEM", help="what to buy (default: apple)"
    )


class Buyer(FastHttpUser):
    """Buys one unit, again and again.

    Locust's rows are named by the outcome in the *body*: SOLD, SOLD_OUT, BUSY. None of these is a
    failure: a shop that says "sold out" works. The row ERROR has all other answers, and only that
    counts as failed.
    """

    host = "http://127.0.0.1:8000"
    wait_time = constant(0)

    def path(self) -> str:
        return f"/buy/{quote(self.environment.parsed_options.item, safe='')}"

    def headers(self) -> dict[str, str]:
        return HEADERS

    def read(self, status: int, body: bytes) -> ShopAnswer:
        return read(status, body)

    @task
    def buy(self) -> None:
        with self.client.post(
            self.path(), data=BODY, headers=self.headers(), catch_response=True
        ) as response:
            if response.content is None:
                answer = ShopAnswer(ERROR, why=f"no answer: {type(response.error).__name__}")
            else:
                answer = self.read(response.status_code, response.content)
            response.request_meta["name"] = answer.outcome
            # Locust hands this context to every listener of its request event.
            response.request_meta["context"]["answer"] = answer
            if answer.outcome == ERROR:
                response.failure(answer.why)
            else:
                response.success()
