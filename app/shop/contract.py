"""The shop's side of the contract."""

from __future__ import annotations

from app.server.contract.document import ApiSide
from app.server.contract.views import COMMON_GROUPS
from app.text import Text

SIDE = ApiSide(
    title=Text("Last Apple: the shop"),
    says=Text(
        "Buy, and look up what was bought. Errors are problems (RFC 9457), each with a type of its "
        "own. A GET answers a HEAD, too; a method that an address does not take is a 405, whose "
        "Allow says which it takes. A request whose head is longer than 16 KiB is a 431, and one "
        "that is no HTTP a 400, without a problem's document."
    ),
    groups={
        "shop": Text("Shop"),
        "holding": Text("Paying for what is held"),
        "class": Text("The class's phones"),
        **COMMON_GROUPS,
    },
)
