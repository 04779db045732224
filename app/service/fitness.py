"""Whether this host can sell in a round: it has what the mode needs, and the round's masters."""

from __future__ import annotations

from app.domain import Round
from app.service.catalogue import needs
from app.store.servers import Servers
from app.text import Text


def unfit(servers: Servers, round: Round) -> str:
    """Return why nothing of a running round can be sold here; "" if it can."""
    why = servers.missing(needs(round.mode))
    if not why and round.masters:
        why = servers.known_masters.mismatch(round.masters)
    return why and Text("This host cannot sell in %(mode)s: %(why)s", mode=round.mode, why=why)
