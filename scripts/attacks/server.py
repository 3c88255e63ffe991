"""A release server with a temporary installation of its own, on loopback."""

import asyncio
import contextlib
import json
import os
import resource
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path

from attacks.client import Client
from attacks.voters import expect

ADMIN_TOKEN = "attack-attack-attack"
PUBLIC_URL = "https://arena.example"
# A proxy on this machine: different networks are played by its X-Forwarded-For.
BEHIND_PROXY = {"TRUSTED_PROXIES": "127.0.0.1"}
# An installation that others visit, whose results are shown at once so that the attack can be measured.
PUBLIC = BEHIND_PROXY | {"PUBLIC_URL": PUBLIC_URL, "RESULTS_DELAY_MINUTES": "0"}
# An installation that many voters can use as fast as they can.
UNLIMITED = BEHIND_PROXY | {"RATE_LIMITS": "off", "MIN_DWELL_MS": "0", "PERSON_CHECK": "off"}

START_TIMEOUT = 60
STOP_TIMEOUT = 30


class Server:
    def __init__(self, program, settings, open_files=None):
        self.program = program
        self.settings = settings
        self.open_files = open_files
        self.dir = Path(tempfile.mkdtemp(prefix="buildoff-attack-"))
        # The server of the database runs as another user if this is root.
        self.dir.chmod(0o755)
        self.port = free_port()
        self.process = None

    async def __aenter__(self):
        try:
            await self.start()
        except BaseException:
            self.remove()
            raise
        return self

    async def __aexit__(self, *_):
        self.remove()

    async def start(self):
        log = open(self.dir / "server.log", "ab")
        with log:
            self.process = subprocess.Popen(
                [self.program], env=self.environment(), cwd=self.dir, preexec_fn=self.limit_open_files,
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
            )
        await self.wait_until_ready(START_TIMEOUT)

    async def wait_until_ready(self, timeout):
        end = time.monotonic() + timeout
        while not await self.is_ready():
            if self.process.poll() is not None or time.monotonic() > end:
                raise RuntimeError(f"the server is not ready. Its log ends with:\n{self.log()[-2000:]}")
            await asyncio.sleep(0.02)

    async def is_ready(self):
        client = Client(self.port)
        with contextlib.suppress(OSError, EOFError, asyncio.TimeoutError):
            return (await client.get("/readyz")).status == 200
        client.close()
        return False

    def environment(self):
        kept = {name: os.environ[name] for name in ("PATH", "HOME", "PG_BIN_DIR") if name in os.environ}
        own = {"DATA_DIR": str(self.dir), "BIND": f"127.0.0.1:{self.port}", "LOG": "info", "LOG_FORMAT": "json"}
        return kept | own | {"ADMIN_TOKEN": ADMIN_TOKEN} | self.settings

    def limit_open_files(self):
        if self.open_files:
            resource.setrlimit(resource.RLIMIT_NOFILE, (self.open_files, self.open_files))

    def stop(self):
        """Stops the server, which stops its database. If it cannot, both are killed."""
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
            try:
                self.process.wait(STOP_TIMEOUT)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        with contextlib.suppress(OSError, ValueError):
            os.kill(self.database_pid(), signal.SIGQUIT)

    def remove(self):
        self.stop()
        shutil.rmtree(self.dir, ignore_errors=True)

    def log(self):
        return (self.dir / "server.log").read_text(errors="replace")

    def database_state(self):
        """The lines that Postgres writes about itself. The first is its process id, the last how it is."""
        return (self.dir / "postgres/data/postmaster.pid").read_text().split("\n")

    def database_pid(self):
        return int(self.database_state()[0])

    def memory(self, kind="VmRSS"):
        """The server's memory in MiB: VmRSS is that of now, VmHWM the largest so far."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.split(f"{kind}:")[1].split()[0]) // 1024

    def run(self, *arguments, given=b""):
        """Runs a command of the program on the same installation, and returns its exit code and what it printed."""
        done = subprocess.run([self.program, *arguments], env=self.environment() | {"LOG": "warn"}, cwd=self.dir,
                              input=given, capture_output=True, timeout=60)
        return done.returncode, done.stdout

    async def vote_log(self):
        log = expect(await Client(self.port).get("/api/votes.jsonl")).body
        return [json.loads(line) for line in log.splitlines()]

    async def elo(self):
        """Each model's Elo on the leaderboard."""
        board = expect(await Client(self.port).get("/api/leaderboard")).json()
        return {model["key"]: model["elo"] for model in board["models"]}

    async def settled_elo(self, is_settled, timeout=20):
        """The same, as soon as the leaderboard is what it should be, or when the time is over."""
        end = time.monotonic() + timeout
        while not is_settled(elo := await self.elo()) and time.monotonic() < end:
            await asyncio.sleep(0.5)
        return elo


def free_port():
    """A free port. Another process could take it before it is used, but hardly does."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
