"""Agents that run for a test, as processes of their own."""

import contextlib
import socket
import subprocess
import sys
import time
from pathlib import Path

import httpx

ROOT = Path(__file__).parent.parent.parent


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


@contextlib.contextmanager
def running(command, port):
    """The address of an agent, which is stopped afterwards."""
    agent = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    try:
        yield wait_for_card(f"http://127.0.0.1:{port}", agent)
    finally:
        agent.kill()
        agent.communicate()


def running_example(script, *options):
    """An example in Python, on a free port."""
    port = free_port()
    return running([sys.executable, ROOT / "examples/agents" / script, "--port", str(port), *options], port)


def wait_for_card(url, agent):
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and agent.poll() is None:
        try:
            if httpx.get(f"{url}/.well-known/agent-card.json").status_code == 200:
                return url
        except httpx.TransportError:
            time.sleep(0.1)
    agent.kill()
    raise AssertionError("the agent did not start:\n" + agent.communicate()[1])
