"""The shop's document."""

from __future__ import annotations

from app.text import Text
from app.web.contract.common import COMMON, COMMON_GROUPS
from app.web.contract.document import Side
from app.web.contract.holding import HOLDING
from app.web.contract.phones import PHONES
from app.web.contract.shop import SHOP

SIDE = Side(
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
    operations={**SHOP, **HOLDING, **PHONES, **COMMON},
)
