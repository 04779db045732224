"""What Prometheus asks."""

from __future__ import annotations

from app.text import Text
from app.web.contract.parts import Answer, Operation

METRICS = {
    "metrics.scrape": Operation(
        name=Text("Figures for Prometheus"),
        says=Text("With the lab's token in the header Authorization (Bearer), where it asks."),
        answers={200: Answer(says=Text("In Prometheus' text format."), other=("text/plain",))},
    ),
}
