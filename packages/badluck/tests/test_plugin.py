"""The pytest plugin, in projects made for it: what a failing test says, saves, and tries again."""

from __future__ import annotations

import json
from pathlib import Path

import badluck.plugin.fixture  # noqa: F401  once: pytester forgets what its runs import
import pytest

BANK = """
def move(redis, source, target):
    left, there = int(redis.get(source)), int(redis.get(target))
    redis.mset({source: left - 1, target: there + 1})

def pay(redis):
    move(redis, "a", "b")

def pay_back(redis):
    move(redis, "b", "a")
"""
AT_ONCE = BANK.replace(
    "int(redis.get(source)), int(redis.get(target))", "map(int, redis.mget(source, target))"
)
HALF_AT_ONCE = BANK.replace(
    'move(redis, "b", "a")',
    'b, a = map(int, redis.mget("b", "a")); redis.mset({"b": b - 1, "a": a + 1})',
)
TEST = """
from bank import pay, pay_back

def test_sum(badluck):
    badluck.explore(
        setup=lambda redis: redis.mset({"a": 5, "b": 5}),
        actors=[pay, pay_back],
        invariant=lambda redis: int(redis.get("a")) + int(redis.get("b")) == 10,
    )
"""
SAVED = "badluck-schedules/test_bank.test_sum.json"
COUNTS = """
import pytest

def count_up(redis):
    redis.set("n", int(redis.get("n") or 0) + 1)

def is_two(redis):
    return int(redis.get("n")) == 2
"""


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)
    return pytester


@pytest.fixture
def bank(project: pytest.Pytester) -> pytest.Pytester:
    project.makepyfile(bank=BANK, test_bank=TEST)
    return project


@pytest.fixture(autouse=True)
def at_home(monkeypatch: pytest.MonkeyPatch) -> None:
    """Unset CI: with CI set, pytest's summary repeats what it has printed already."""
    monkeypatch.delenv("CI", raising=False)


def ran(project: pytest.Pytester, *words: str) -> tuple[int, str]:
    """Return how it ended, and all that it printed."""
    result = project.runpytest_inprocess("-p", "badluck", "-p", "no:cacheprovider", *words)
    return int(result.ret), "\n".join(result.outlines + result.errlines)


def test_a_failure_is_told_shown_and_saved(bank: pytest.Pytester) -> None:
    ended, printed = ran(bank)
    assert ended == 1
    assert "pay, pay_back: INVARIANT BROKEN, with no fault at all, 2 switches and 6" in printed
    assert "\n  6 MSET a 4 b 5 -> OK " in printed
    assert f"pytest test_bank.py::test_sum --badluck-replay={SAVED}" in printed
    assert "Traceback" not in printed
    assert "explore.py" not in printed
    text = (bank.path / SAVED).read_text()
    assert len(text) < 1500
    assert str(bank.path) not in text
    assert str(bank.path) not in (bank.path / SAVED).with_suffix(".html").read_text()
    assert json.loads(text)["test"] == "test_bank.py::test_sum"


def test_what_was_found_is_tried_first(bank: pytest.Pytester) -> None:
    ran(bank)
    text = (bank.path / SAVED).read_text()
    (bank.path / SAVED).with_suffix(".html").unlink()
    ended, printed = ran(bank)
    assert ended == 1
    assert f"{SAVED} still breaks it: nothing else was looked at" in printed
    assert "\n  6 MSET a 4 b 5 -> OK " in printed
    assert "schedules, " not in printed, "it has searched"
    assert (bank.path / SAVED).read_text() == text
    assert (bank.path / SAVED).with_suffix(".html").exists()
    assert ran(bank, "--rootdir=..", "-q")[1].count("still breaks it") == 1


def test_a_schedule_of_code_that_was_mended(bank: pytest.Pytester) -> None:
    ran(bank)
    bank.makepyfile(bank=AT_ONCE)
    ended, printed = ran(bank)
    assert ended == 0
    assert f"{SAVED} does not break it any more: step 1 was GET a, and is MGET a b." in printed
    assert (bank.path / SAVED).exists(), "it stays: whoever brings the bug back is told at once"
    bank.makepyfile(bank=BANK)
    assert "still breaks it" in ran(bank)[1]


def test_the_same_steps_under_another_invariant(bank: pytest.Pytester) -> None:
    """The rules decide whether the steps still break the invariant; the steps alone do not."""
    ran(bank)
    mended = TEST.replace("== 10", ">= 9")
    for asked in (mended, mended.replace("invariant=", "at_end=")):
        bank.makepyfile(test_bank=asked)
        ended, printed = ran(bank)
        assert ended == 0
        assert f"{SAVED} does not break it any more.\n" in printed


def test_a_schedule_that_differs_is_searched_again(bank: pytest.Pytester) -> None:
    ran(bank)
    bank.makepyfile(bank=HALF_AT_ONCE)
    ended, printed = ran(bank)
    assert ended == 1
    assert "does not break it any more: step 2 was GET b, and is MGET b a." in printed
    assert "schedules, " in printed
    assert "MGET b a" in (bank.path / SAVED).read_text()


SOUND = json.dumps(
    {
        "badluck": 1,
        "test": "test_bank.py::test_sum",
        "call": 1,
        "actors": 2,
        "again": False,
        "findings": [{"name": "invariant broken", "trace": []}],
    }
)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "no JSON"),
        ("[" * 100_000, "no JSON"),
        ("\x00", "no JSON"),
        ("[]", "no JSON object"),
        (SOUND.replace('"badluck": 1', '"badluck": 2'), "'badluck' is 2, and not 1"),
        (SOUND.replace('"invariant broken"', "5"), "'name' is 5, and no text"),
        (SOUND.replace('"actors": 2', '"actors": 9'), "'actors' is 9"),
        (SOUND.replace("[]", '[{"does": "flies"}]'), "step 1: 'does' is 'flies'"),
        (SOUND.replace('[{"name', '[], "f": [{"name'), "0 schedules where one belongs"),
        (SOUND.replace("test_sum", "test_other"), "of call 1 of explore in test_bank.py::test_oth"),
        (None, "Is a directory"),
    ],
)
def test_a_file_that_cannot_be_believed(bank: pytest.Pytester, text: str | None, said: str) -> None:
    file = bank.path / SAVED
    if text is None:
        file.mkdir(parents=True)
    else:
        file.parent.mkdir()
        file.write_text(text)
    bank.makepyfile(bank=AT_ONCE)
    ended, printed = ran(bank)
    assert ended == 1
    assert SAVED in printed
    assert said in printed
    assert "Delete it, and the search finds what there is" in printed
    assert "Traceback" not in printed


def test_where_nothing_can_be_written(bank: pytest.Pytester) -> None:
    (bank.path / "badluck-schedules").touch()
    ended, printed = ran(bank)
    assert ended == 1
    assert "INVARIANT BROKEN" in printed
    assert f"not saved in {SAVED}: File exists" in printed


def test_options_are_for_tests_that_say_nothing_themselves(project: pytest.Pytester) -> None:
    project.makepyfile(
        COUNTS
        + """
def busy(redis):
    redis.set("busy", 1)
    redis.delete("busy")

def free(redis):
    return not redis.exists("busy")

def test_default(badluck):
    badluck.explore(actor=busy, at_end=free, seconds=60)

def test_own(badluck):
    badluck.explore(actor=busy, at_end=free, faults="none", seconds=60)

def for_ever(redis):
    while redis.incr("n"):
        pass

def test_inconclusive(badluck):
    badluck.explore(actor=for_ever)

def test_allowed(badluck):
    assert badluck.explore(actor=for_ever, allow_inconclusive=True).verdict == "inconclusive"
"""
    )
    ended, printed = ran(project, "-rA", "--badluck-faults=crash=1", "--badluck-seconds=1")
    assert ended == 1
    assert "1 fault, " in printed
    passed = {line for line in printed.splitlines() if line.startswith("PASSED")}
    file = "test_options_are_for_tests_that_say_nothing_themselves.py"
    assert passed == {f"PASSED {file}::test_own", f"PASSED {file}::test_allowed"}
    assert "inconclusive, and so it fails: give it longer (seconds=, --badluck-secon" in printed
    assert "test_allowed: inconclusive, which it allows." in printed


@pytest.mark.parametrize("option", ["--badluck-faults=fire=1", "--badluck-seconds=0"])
def test_an_option_that_means_nothing(bank: pytest.Pytester, option: str) -> None:
    ended, printed = ran(bank, option)
    assert ended == 4
    assert option.partition("=")[0] in printed


def test_every_question_has_its_own_file(project: pytest.Pytester) -> None:
    """Also when xdist sends reports from one process to another."""
    project.makeconftest(
        "import json\ndef pytest_runtest_logreport(report): json.dumps(report._to_json())"
    )
    project.makepyfile(
        test_n=COUNTS
        + """
@pytest.mark.parametrize("what", ["a/b", "a:b", "c"])
def test_each(badluck, what):
    badluck.explore(actor=count_up, at_end=is_two)

class TestIt:
    def test_twice(self, badluck):
        with pytest.raises(pytest.fail.Exception, match="BROKEN AT THE END"):
            badluck.explore(actor=count_up, at_end=is_two)
        badluck.explore(actor=count_up, at_end=is_two)
"""
    )
    ended, printed = ran(project)
    assert ended == 1
    assert "4 failed" in printed
    names = sorted(path.name for path in Path("badluck-schedules").glob("*.json"))
    assert names == [
        "test_n.TestIt.test_twice.2.json",
        "test_n.TestIt.test_twice.json",
        "test_n.test_each-a-b-8d8177e8.json",
        "test_n.test_each-a-b-976c1673.json",
        "test_n.test_each-c-40e8b206.json",
    ]
    assert ran(project)[1].count("still breaks it") == 4


def test_faults_that_the_test_does_not_allow_any_more(project: pytest.Pytester) -> None:
    test = """
def busy(redis):
    redis.set("busy", 1)
    redis.delete("busy")

def test_it(badluck):
    badluck.explore(actor=busy, at_end=lambda redis: not redis.exists("busy"), faults=FAULTS)
"""
    saved = "badluck-schedules/test_n.test_it.json"
    project.makepyfile(test_n=test.replace("FAULTS", "'crash=1'"))
    assert ran(project)[0] == 1
    for faults in ("none", "pause=1"):
        project.makepyfile(test_n=test.replace("FAULTS", f"{faults!r}"))
        ended, printed = ran(project)
        assert ended == 0
        assert f"{saved} is of faults that the test does not allow any more" in printed
    project.makepyfile(test_n=test.replace("FAULTS", "'crash=2'"))
    assert f"{saved} still breaks it" in ran(project)[1]


def test_a_fixture_asks_before_its_test(project: pytest.Pytester) -> None:
    project.makepyfile(
        test_n=COUNTS
        + """
@pytest.fixture
def once(badluck):
    with pytest.raises(pytest.fail.Exception, match="BROKEN AT THE END"):
        badluck.explore(actor=count_up, at_end=is_two)

def test_it(once, badluck):
    badluck.explore(actor=count_up, at_end=is_two)
"""
    )
    ran(project)
    names = sorted(path.name for path in Path("badluck-schedules").glob("*.json"))
    assert names == ["test_n.test_it.2.json", "test_n.test_it.json"]


def test_what_cannot_be_explored_is_said_in_words(project: pytest.Pytester) -> None:
    project.makepyfile(
        """
seen = []

def remembers(redis):
    seen.append(redis.get("n"))

def test_it(badluck):
    badluck.explore(actor=remembers)
"""
    )
    ended, printed = ran(project)
    assert ended == 1
    assert "remembers changes seen of the test's own module (list); each is a process" in printed
    assert "explore.py" not in printed
    assert "another exception" not in printed


def test_github_is_told_which_line(bank: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_WORKSPACE", str(bank.path.parent))
    bank.makepyfile(
        test_more="import pytest\n" + TEST.replace("def ", "@pytest.mark.xfail\ndef "),
        test_held=TEST.replace("actors=[pay, pay_back]", "actors=[pay, 3]"),
    )
    ended, printed = ran(bank)
    assert ended == 1
    told = [line for line in printed.splitlines() if line.startswith("::")]
    first, second = told
    name = bank.path.name
    title = "badluck%3A test_bank.py%3A%3Atest_sum"
    assert first.startswith(f"::error file={name}/bank.py,line=3,title={title}::pay, pay_back: INV")
    assert "%0A  1 GET a -> b'5'" in first
    assert second.startswith(f"::error file={name}/test_held.py,line=4,")
    monkeypatch.delenv("GITHUB_ACTIONS")
    assert "::error" not in ran(bank)[1]
