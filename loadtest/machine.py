"""The machine and the versions of a run: figures mean nothing without them."""

from __future__ import annotations

import platform
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

import psutil

from loadtest import wrk
from loadtest.lab import About


@dataclass(frozen=True)
class Machine:
    """The machine that sent the load, and the shop. `threads` are those of one worker."""

    cpu: str
    cores: int
    system: str
    python: str
    store: str
    appendfsync: str
    durability: str
    database: str
    workers: int
    threads: int
    buyers: int
    versions: dict[str, str]
    shop_threads: int  # of all workers

    def facts(self) -> dict[str, str]:
        """Return the facts to print next to the figures, by name."""
        return {
            "processor": f"{self.cpu}, {self.cores} cores",
            "system": f"{self.system}, Python {self.python}",
            "store": f"{self.store}, appendfsync {self.appendfsync}"
            + (f", durability {self.durability}" if self.durability else ""),
            "database": self.database,
            "shop": f"{self.workers} workers × {self.threads} threads = {self.shop_threads} "
            f"threads for {self.buyers} buyers",
            "versions": ", ".join(f"{name} {version}" for name, version in self.versions.items()),
        }


def describe(about: About, buyers: int, own: bool) -> Machine:
    """Return the machine of the load, with the shop as its lab describes it.

    The versions of gunicorn and Flask are known only of our `own` shop.
    """
    names = ("gunicorn", "flask", "locust") if own else ("locust",)
    versions = {name: metadata.version(name) for name in names}
    if (version := wrk.version()) is not None:
        versions["wrk"] = version.removeprefix("wrk ")
    return Machine(
        cpu=cpu_model(),
        cores=cores(),
        system=f"{platform.system()} {platform.release()}",
        python=platform.python_version(),
        store=about.server,
        appendfsync=about.appendfsync,
        durability=about.durability,
        database=about.database,
        workers=about.workers,
        threads=about.threads,
        buyers=buyers,
        versions={"lastapple": about.version} | versions,
        shop_threads=about.workers * about.threads,
    )


def cpu_model() -> str:
    """Return the CPU's name from the kernel. Python's `platform` knows only the architecture."""
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass  # not Linux
    return platform.processor() or platform.machine()


def cores() -> int:
    """Count the cores that this process may use: in a container often fewer than there are."""
    return len(psutil.Process().cpu_affinity()) if psutil.LINUX else psutil.cpu_count() or 1


def summarize() -> str:
    """Describe the machine and the client libraries in one line."""
    return (
        f"{cores()} cores ({platform.machine()}), {platform.system()} {platform.release()}, "
        f"Python {platform.python_version()}, redis-py {metadata.version('redis')}, "
        f"hiredis {metadata.version('hiredis')}"
    )
