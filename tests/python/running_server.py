"""A running server, for tests that speak to one."""

import os
import signal
import subprocess
import tempfile

import pytest


@pytest.fixture(scope="session")
def site():
    """The address of a server with an empty database."""
    with tempfile.TemporaryDirectory(prefix="buildoff-python-") as folder:
        # Where the tests run as root, Postgres runs as another account.
        os.chmod(folder, 0o711)
        yield from serve(folder)


def serve(folder):
    inherited = {name: value for name, value in os.environ.items() if name != "DATABASE_URL"}
    environment = {**inherited, "DATA_DIR": folder, "RATE_LIMITS": "off"}
    command = [os.environ["BUILDOFF"], "--host", "127.0.0.1", "--port", "0"]
    server = subprocess.Popen(command, env=environment, stderr=subprocess.STDOUT, stdout=subprocess.PIPE, text=True)
    try:
        yield listening_address(server)
    finally:
        server.send_signal(signal.SIGINT)
        server.communicate(timeout=60)


def listening_address(server):
    lines = []
    for line in server.stdout:
        lines.append(line)
        if "listening" in line:
            return line.split('"url":"')[1].split('"')[0]
    raise AssertionError("the server did not start:\n" + "".join(lines))
