"""A real ZooKeeper of Debian's package, in the foreground as a child of the tests."""

from __future__ import annotations

import os
import shutil
import socket
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest
from kazoo.client import KazooClient
from servers.process import Server

from app.locks.zookeeper import Zookeeper
from app.store.servers import Servers
from tests.support.servers import free_port, until

JAR = Path("/usr/share/java/zookeeper.jar")  # it names the jars that it needs
TICK = 100  # ms between two checks of the sessions
SESSION = 2.0  # s, where a test lets them end
LIMIT = 1.0  # s for an answer, where a test lets the server die

Lock = Callable[..., Zookeeper]


def zookeeper_jar() -> Path:
    """Return the jar. CI needs it; elsewhere the tests that need it are skipped."""
    found = JAR.exists() and shutil.which("java")
    assert found or not os.environ.get("CI"), "CI needs zookeeper: .ci/run installs it"
    if not found:
        pytest.skip("no ZooKeeper here; on Debian: apt install zookeeper")
    return JAR


class ZooKeeperServer(Server):
    """One server on a free port, with its data in `folder`.

    However long a session a client asks for, it gets `session` seconds.
    """

    seconds = 60.0

    def __init__(self, folder: Path, session: float) -> None:
        jar = zookeeper_jar()
        folder.mkdir(parents=True, exist_ok=True)
        self.port = free_port()
        self.hosts = f"127.0.0.1:{self.port}"
        config = folder / "zoo.cfg"
        config.write_text(
            f"tickTime={TICK}\n"
            f"maxSessionTimeout={round(session * 1000)}\n"
            f"dataDir={folder / 'data'}\n"
            "clientPortAddress=127.0.0.1\n"
            f"clientPort={self.port}\n"
            "maxClientCnxns=0\n"
            "admin.enableServer=false\n"
            "4lw.commands.whitelist=srvr,mntr\n"
        )
        main = "org.apache.zookeeper.server.quorum.QuorumPeerMain"
        # It lives for seconds: the second compiler's work would never pay.
        small = ("-Xmx64m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
        command = ["java", *small, "-cp", str(jar), main, str(config)]
        super().__init__(command, folder / "server.log")

    def serves(self) -> bool:
        # A request that comes while it starts may never be answered.
        return "zk_server_state" in self.ask("mntr", 0.5)

    def ask(self, word: str, timeout: float = 5.0) -> str:
        """Return its answer to a four-letter word; "" while it does not run."""
        said = b""
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout) as plain:
                plain.sendall(word.encode())
                while chunk := plain.recv(4096):
                    said += chunk
        except (ConnectionError, TimeoutError):
            pass
        return said.decode()

    def figure(self, name: str) -> int:
        """Return one of the numbers that `mntr` lists."""
        rows = dict(line.split("\t", 1) for line in self.ask("mntr").splitlines())
        return int(float(rows[name]))

    def stop(self) -> None:
        self.kill()  # its data is not needed any more


def end_session(servers: Servers) -> None:
    """Let the servers end this process's session, as after a long silence.

    Another client can enter a session by its number and password, and then close it. The old client
    may reconnect faster: then try again.
    """
    mine = servers.zookeeper
    session = mine.client_id

    def ended() -> bool:
        if mine.client_id == session:
            again = KazooClient(servers.settings.zookeeper_hosts, client_id=session)
            with suppress(again.handler.timeout_exception):  # the other was quicker each time
                again.start(timeout=2)
                leave(again)
        return mine.client_id not in (None, session)  # None: not connected

    until(ended, 30)


def leave(client: KazooClient) -> None:
    """Close a session in order."""
    client.stop()
    client.close()


def waiting(pool: ThreadPoolExecutor, lock: Zookeeper, then: Callable[[], object]) -> None:
    """Let it wait for the lock in a thread, and call `then` when it holds the lock."""

    def wait() -> None:
        assert lock.acquire(wait_s=30)
        then()

    pool.submit(wait)
    until(lambda: lock.counts.waits)
