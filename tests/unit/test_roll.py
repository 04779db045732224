"""Places on the projector: crowds of one client, classes behind one address."""

from __future__ import annotations

import pytest

from app.service.classroom.roll import AT_ONCE, GONE, MOST, PACE, ClassMember, Roll

NOW = 1_790_000_000_000  # ms since 1970
ROUTER, CLIENT = "192.0.2.1", "192.0.2.99"


class Crowd:
    """Phones that come to a roll; moments are ms after NOW."""

    def __init__(self) -> None:
        self.roll = Roll()

    def join(self, id: str, address: str, at: int = 0) -> bool:
        return self.roll.hear(ClassMember(id, id, NOW + at, NOW + at), address)

    def sign(self, id: str, address: str, at: int, joined: int = 0) -> bool:
        return self.roll.hear(ClassMember(id, id, NOW + joined, NOW + at), address)

    def flood(self, address: str, count: int = 1_000, at: int = 0, lasts: int = 1_700) -> None:
        """Join so many times, as fast as they come; none gives a sign again."""
        for number in range(count):
            self.join(f"{address} {at} {number}", address, at + number * lasts // count)

    def here(self) -> set[str]:
        return {member.id for member in self.roll.members()}


@pytest.fixture
def crowd() -> Crowd:
    return Crowd()


def names(count: int) -> set[str]:
    return {f"phone {number}" for number in range(count)}


def test_a_thousand_joins_of_one_client_fill_a_fifth_of_it(crowd: Crowd) -> None:
    crowd.flood(CLIENT)
    assert len(crowd.here()) == AT_ONCE == MOST // 5
    assert crowd.join("Anna", ROUTER, 1_800), "one more, and shown at once"
    assert "Anna" in crowd.here()


def test_a_class_behind_one_address_is_in_at_once(crowd: Crowd) -> None:
    for name in names(60):
        assert crowd.join(name, ROUTER)
    assert crowd.here() == names(60)


def test_a_large_class_behind_one_address_is_in_after_a_few_signs(crowd: Crowd) -> None:
    """Two hundred scan in the same second, and their phones give a sign every three seconds."""
    for at in range(0, 2 * PACE, 3_000):
        for name in sorted(names(200)):
            crowd.sign(name, ROUTER, at)
    assert crowd.here() == names(200)


def test_a_crowd_beside_a_class_behind_the_same_address(crowd: Crowd) -> None:
    """A phone that is in stays in; a new one gets in if its page stays open."""
    for name in names(60):
        crowd.join(name, ROUTER)
        crowd.sign(name, ROUTER, 300)
    for at in range(1_000, 10_000, 3_000):
        crowd.flood(ROUTER, at=at, lasts=2_999)
        crowd.sign("Anna", ROUTER, at + 3_000, joined=2_000)
        for name in names(60):
            crowd.sign(name, ROUTER, at + 3_000)
    crowd.flood(ROUTER, at=10_000, lasts=2_999)
    assert crowd.here() >= names(60) | {"Anna"}
    assert len(crowd.here()) <= 2 * AT_ONCE


def test_the_address_that_has_most_makes_room(crowd: Crowd) -> None:
    """A client with hundreds of open pages keeps only the places that no other client wants."""
    for at in range(0, 6 * PACE, PACE):
        for number in range(MOST):
            crowd.sign(f"kept open {number}", CLIENT, at)
    assert len(crowd.here()) == MOST
    at = 6 * PACE
    for number in range(60):
        assert not crowd.join(f"phone {number}", ROUTER, at), "nothing is written at once"
    for number in range(MOST):
        crowd.sign(f"kept open {number}", CLIENT, at + 1_000)
    assert crowd.here() >= names(60)
    assert len(crowd.here()) == MOST


def test_more_addresses_than_places(crowd: Crowd) -> None:
    for number in range(MOST):
        crowd.join(f"phone {number}", str(number))
    crowd.join("Anna", ROUTER, 10)
    assert crowd.here() == names(MOST) - {"phone 0"} | {"Anna"}, "the one heard longest ago"


def test_who_is_gone_leaves_a_place(crowd: Crowd) -> None:
    crowd.flood(CLIENT)
    assert crowd.join("Anna", CLIENT, GONE + 2_000)
    assert crowd.here() == {"Anna"}


def test_what_a_screen_should_know_at_once(crowd: Crowd) -> None:
    assert crowd.join("Anna", ROUTER)
    assert not crowd.sign("Anna", ROUTER, 3_000), "as before"
    assert not crowd.sign("Anna", CLIENT, 6_000), "from another network"
    renamed = ClassMember("Anna", "Anna K.", NOW, NOW + 7_000)
    assert crowd.roll.hear(renamed, CLIENT)
    again = ClassMember("Anna", "Anna K.", NOW + 8_000, NOW + 8_000)
    assert crowd.roll.hear(again, CLIENT), "in a new class"
    assert crowd.roll.members() == [again]
