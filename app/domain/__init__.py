"""The words of the shop: what is sold, how it can end, what can go wrong. No I/O."""

from app.domain.clock import Clock, iso
from app.domain.errors import (
    Away,
    CannotSell,
    ClassIsOn,
    ComparisonIsOn,
    DatabaseAway,
    ForTheClass,
    HostsDiffer,
    InDoubt,
    Invalid,
    KeyReused,
    LockBusy,
    LockLost,
    Newer,
    NotOnSale,
    NotOpen,
    RoundLeft,
    RunIsOn,
    ShopError,
    StockHeld,
    StoreAway,
    TooOften,
    UnknownComparison,
    UnknownDeadLetter,
    UnknownForm,
    UnknownItem,
    UnknownOrder,
    UnknownRound,
    UnknownRun,
    UnknownWay,
    Unreadable,
    WrongDatabase,
    WrongPair,
    in_doubt,
)
from app.domain.holds import AlreadyPaid, Due, Hold, HoldOver, Stands
from app.domain.lack import Lack, Lacking, Loss
from app.domain.mended import Mended
from app.domain.selling import (
    ITEMS,
    ROUND_BOUNDS,
    Bound,
    Item,
    NotBooked,
    Order,
    Outcome,
    Round,
    Sale,
)
