"""Another site's page in the instructor's browser: it may link to the lab, and nothing else."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import psutil
import pytest
from playwright.sync_api import Browser, expect

from tests.support.shop import Shop

# Each way in which a page can make a browser send a request, except a form that is sent (a POST).
ASKS = """(lab) => {
  const searches = [0, 1, 2].flatMap((crash) => [2, 3].map((buyers) =>
    `${lab}/explorer/lock:redlock?crash=${crash}&buyers=${buyers}`));
  for (const search of [...searches, `${lab}/explorer/naive`, `${lab}/classroom`]) {
    new Image().src = search;
    fetch(search, { mode: "no-cors" }).catch(() => {});
    for (const [kind, place] of Object.entries({ iframe: "src", object: "data", embed: "src",
      link: "href", script: "src" })) {
      const made = document.createElement(kind);
      if (kind === "link") made.rel = "prefetch";
      made[place] = search;
      document.body.append(made);
    }
  }
}"""


class Elsewhere(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"<!doctype html><title>elsewhere</title><body><a>there</a>")

    def log_message(self, *_: object) -> None:
        """Log nothing."""


@pytest.fixture
def elsewhere() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Elsewhere) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture(scope="module")
def new_shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    """A shop whose explorer has not been used; the last test here uses it."""
    with Shop(tmp_path_factory.mktemp("foreign")) as shop:
        yield shop


def desks(shop: Shop) -> list[psutil.Process]:
    """Return the processes that work for the explorer."""
    return [
        child
        for child in shop.child("lab").children(recursive=True)
        if "app.explorer.desk" in " ".join(child.cmdline())
    ]


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_it_starts_no_search(browser: Browser, new_shop: Shop, elsewhere: str, host: str) -> None:
    """From another site, and from another port of the same."""
    page = browser.new_page()
    lab = new_shop.lab.replace("127.0.0.1", host)
    answers: list[int] = []
    page.on("response", lambda answer: answers.append(answer.status))
    page.goto(elsewhere)
    answers.clear()
    page.evaluate(ASKS, lab)
    page.wait_for_timeout(3_000)
    assert len(answers) > 10, "it has asked"
    assert {*answers} == {403}
    assert desks(new_shop) == []
    page.close()


def test_it_may_link_to_a_search_but_not_lead_its_window_from_one_to_the_next(
    browser: Browser, new_shop: Shop, elsewhere: str
) -> None:
    page = browser.new_page()
    page.goto(elsewhere)
    link = f"{new_shop.lab}/explorer/naive"
    page.evaluate(
        """(link) => {
          const there = document.querySelector("a");
          there.href = link;
          there.onclick = (event) => {
            event.preventDefault();
            window.opened = open(link);
          };
        }""",
        link,
    )
    with page.expect_popup() as popup:
        page.get_by_text("there").click()
    expect(popup.value.locator("#player")).to_be_visible(timeout=30_000)
    page.evaluate("(link) => { window.opened.location = link; }", f"{link}?crash=2&buyers=3")
    page.wait_for_timeout(1_000)
    assert "crash" not in popup.value.url
    assert page.evaluate("window.opened.closed"), "for all that it can see"
    page.close()
