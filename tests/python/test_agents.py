"""Agents that Buildoff asks: the examples, which are on the official SDK and on our own crate."""

import json
import os
import pathlib
import subprocess

import httpx
import pytest
from running_agent import free_port, running, running_example


@pytest.fixture(scope="module")
def python_agent():
    with running_example("builder.py") as url:
        yield url


@pytest.fixture(scope="module")
def rust_agent():
    port = free_port()
    agent = pathlib.Path(os.environ["BUILDOFF"]).parent / "examples/builder-agent"
    with running([agent, str(port)], port) as url:
        yield url


def run(site, *agents):
    """The events of a run in the sandbox, with two agents."""
    wanted = {"prompt": "a shed", "gridSize": 32, "palette": "simple", "models": [{"agent": url} for url in agents]}
    with httpx.stream("POST", f"{site}/api/generate", json=wanted, timeout=120) as answer:
        assert answer.status_code == 200, answer.read()
        return [json.loads(line) for line in answer.iter_lines() if line]


def test_both_examples_build_side_by_side(site, python_agent, rust_agent):
    events = run(site, python_agent, rust_agent)
    results = {event["slot"]: event for event in events if event["type"] == "result"}
    assert set(results) == {"a", "b"}, events
    for result in results.values():
        assert result["metrics"]["blockCount"] > 1000
        assert result["metrics"]["attempts"] == 1


def test_the_command_explains_and_checks_the_card_of_an_agent(python_agent):
    command = [os.environ["BUILDOFF"], "agents", "card", python_agent]
    shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert shown.startswith("Tower 1.0.0\n") and "in version 1.0 of the protocol" in shown, shown
    found = json.loads(subprocess.run([*command, "--json"], capture_output=True, text=True, check=True).stdout)
    assert found["usable"] and found["findings"] == [], found
