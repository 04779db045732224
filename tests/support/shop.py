"""The whole shop as its user starts it: the processes of `lastapple up`, used over HTTP."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

import psutil
import requests
from servers.family import command_line, family, kill

from tests.support.command_line import full_environ
from tests.support.servers import free_port, until

# Words of its command line that identify each child.
CHILDREN = {
    "store": r"valkey-server(?!.*(redlock-\d|replica)\.sock)",
    "replica": r"replica\.sock",
    "redlock-1": r"redlock-1\.sock",
    "fulfil": r"run fulfil",
    "shop": r"app:create_shop\(\)",
    "lab": r"app:create_lab\(\)",
}


class Shop:
    """`lastapple up` in `folder` on free ports; `environ` sets further settings."""

    def __init__(self, folder: Path, **environ: str) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        ports = {name: str(free_port()) for name in ("SHOP_PORT", "LAB_PORT", "STORE_PORT")}
        # The tests share two cores, and most of them do not test for slow answers.
        usual = {"VAR_DIR": str(folder / "var"), "SHOP_THREADS": "32", "STORE_TIMEOUT": "3000"}
        usual["HANG_LIMIT"] = "0"  # a frozen process stays frozen
        usual["SECRET_KEY"] = "of all hosts of a test's store"
        self.environ = usual | ports | environ
        self.url = f"http://127.0.0.1:{self.environ['SHOP_PORT']}"
        self.lab = f"http://127.0.0.1:{self.environ['LAB_PORT']}"
        self.output = folder / "up.log"

    def start(self) -> None:
        """Start and wait until it is open for business."""
        self.launch()
        try:
            until(lambda: "Ctrl-C stops" in self.said(), 40)
        except AssertionError:
            raise AssertionError(f"not up: {self.said()}") from None

    def launch(self) -> None:
        with self.output.open("w") as output:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "app.cli", "up"],
                env=full_environ(self.environ),
                stdout=output,
                stderr=output,
                start_new_session=True,
            )

    def said(self) -> str:
        return self.output.read_text()

    def stop(self, number: int = signal.SIGINT) -> int:
        """Stop it by a signal, by default as Ctrl-C does; return the exit status."""
        self.process.send_signal(number)
        return self.process.wait(120)

    def child(self, name: str) -> psutil.Process:
        """Return the process of one of CHILDREN. Fails when it does not run."""
        found: list[psutil.Process] = []

        def runs() -> bool:  # a new process has the supervisor's own command at first
            found[:] = [
                child
                for child in psutil.Process(self.process.pid).children()
                if re.search(CHILDREN[name], " ".join(child.cmdline()))
            ]
            return len(found) == 1

        until(runs, said=f"{name} does not run")
        return found[0]

    def kill_everything(self) -> None:
        """SIGKILL the supervisor and all below it, the supervisor first."""
        kill(family(self.process.pid))
        self.process.wait()

    def processes(self, *words: str) -> list[psutil.Process]:
        """Return its processes whose command has one of these words; without words, all."""
        return [
            each
            for each in psutil.process_iter()
            if self._owns(each) and any(word in command_line(each) for word in words or ("",))
        ]

    def _owns(self, process: psutil.Process) -> bool:
        with suppress(psutil.Error):
            return bool(process.environ().get("VAR_DIR") == self.environ["VAR_DIR"])
        return False

    def close(self) -> None:
        if self.process.poll() is None:
            self.stop()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def round(self, mode: str, stock: int, item: str = "apple", **times: int) -> dict[str, Any]:
        wanted = {"item": item, "stock": stock, "mode": mode, **times}

        answers: list[requests.Response] = []

        def answered() -> bool:
            """False at first: the store may be away for a moment after the start."""
            answers.append(requests.post(f"{self.lab}/rounds", json=wanted, timeout=10))
            return answers[-1].status_code != 503

        until(answered)
        answer = answers[-1]
        assert answer.status_code == 201, answer.text
        started: dict[str, Any] = answer.json()
        return started

    def audit(self, number: int, item: str = "apple", seconds: float = 30) -> dict[str, Any]:
        """Return the settled audit of a round."""
        audit: dict[str, Any] = {}

        def settled() -> bool:
            try:
                answer = requests.get(f"{self.lab}/rounds/{item}/{number}/audit", timeout=10)
            except requests.ConnectionError:  # the lab itself may be restarting
                return False
            audit.update(answer.json())
            return answer.ok and bool(audit["settled"])

        until(settled, seconds, f"never settled: {audit}")
        return audit

    def buy(
        self,
        session: requests.Session,
        key: str | None = None,
        quantity: int = 1,
        item: str = "apple",
    ) -> requests.Response:
        headers = {"Idempotency-Key": key} if key else {}
        return session.post(
            f"{self.url}/buy/{item}", json={"quantity": quantity}, headers=headers, timeout=15
        )


NewShop = Callable[..., Shop]  # the fixture `new_shop`
