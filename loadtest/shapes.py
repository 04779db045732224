"""The shape of a flash sale's opening, for Locust.

    locust -f loadtest/buyers.py,loadtest/shapes.py --headless --users 200

First a trickle of early buyers, then all buyers in the same second, then a tail that hopes for
returned units. `--users` is the height of the rush; spawn rate and run time are the shape's.
"""

from __future__ import annotations

from locust import LoadTestShape

# (until this second of the run, share of the users that are active)
STAGES = ((10, 0.05), (30, 1.0), (60, 0.1))

# The rush when `--users` is not given: more than the default shop has threads (2 x 16).
USERS = 100


class FlashSale(LoadTestShape):
    """5 % of the users for 10 s, all of them for 20 s, 10 % for 30 s more, then the end."""

    use_common_options = True

    def tick(self) -> tuple[int, float] | None:
        """Return the users wanted now, and how many of them may start in one second; None: stop."""
        options = self.runner.environment.parsed_options if self.runner else None
        users = (options and options.num_users) or USERS
        elapsed = self.get_run_time()
        for end, share in STAGES:
            if elapsed < end:
                # Spawn rate: all of them in one second, so that they arrive together.
                return max(1, round(users * share)), users
        return None
