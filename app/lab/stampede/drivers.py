"""Keeps the processes of runs and comparisons, which end with the process that started them."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import asdict

from servers.process import start

from app.config import Settings
from app.lab.stampede.record import Run


class Drivers:
    """`children` are the processes that were started here and may still run."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.children: list[subprocess.Popen[bytes]] = []

    def start(self, run: Run) -> None:
        """Start and return the process that drives a run."""
        self.launch("stampede", run.id)

    def launch(self, kind: str, id: str) -> None:
        """Start it in a session of its own; its errors are in VAR_DIR/log/stampede.log."""
        self.children = [child for child in self.children if child.poll() is None]
        path = self.settings.var / "log" / "stampede.log"
        path.parent.mkdir(parents=True, exist_ok=True)
        ours = {name.upper(): str(value) for name, value in asdict(self.settings).items()}
        command = [sys.executable, "-m", "app.cli", "run", kind, id]
        self.children.append(start(command, path, env=os.environ | ours))
