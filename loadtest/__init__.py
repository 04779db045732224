"""Load on the shop, from outside: speaks HTTP only and imports nothing of `app`.

    locust -f loadtest/buyers.py                       a stampede with Locust's own web UI
    locust -f loadtest/buyers.py,loadtest/shapes.py    the same, shaped like a flash sale's opening
    python -m loadtest.compare                         `lastapple compare`: what each mode costs

`buyers` and `shapes` are locustfiles. `compare` is the command line over `run`, which starts a
`shop`, talks to its `lab`, sends load from a process of its own (`generator` starts `cell`) or
from `wrk`, and adds the answers (`answers`) of a `window` up to `rows`, a `table` and a `report`.
"""


class RunFailed(Exception):
    """The run could not be finished. The text says why, for a person, in one line."""
