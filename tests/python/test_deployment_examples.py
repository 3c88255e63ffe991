"""The files of the examples that others read: compose files and workflows."""

import os
import shlex
import subprocess

import yaml
from running_agent import ROOT

AGENTBEATS = ROOT / "examples/agentbeats"


def read(path):
    return yaml.safe_load((ROOT / path).read_text())


def refused(arguments):
    """What the program says of its arguments, if it does not take them. Nothing is run: the last one asks for help."""
    help = subprocess.run([os.environ["BUILDOFF"], *arguments, "--help"], capture_output=True, text=True)
    return help.stderr


def test_the_compose_file_starts_what_the_scenario_names():
    services = read("examples/agentbeats/docker-compose.yml")["services"]
    scenario = (AGENTBEATS / "scenario.toml").read_text()
    for name in ("green-agent", "agent"):
        command = services[name]["command"]
        assert command[command.index("--port") + 1] == "9009"
        assert f'endpoint = "http://{name}:9009"' in scenario
        assert command[command.index("--card-url") + 1].rstrip("/") == f"http://{name}:9009"
        assert (AGENTBEATS / services[name]["build"] / "Dockerfile").exists()
    assert services["green-agent"]["environment"]["ASSESS"] == "open"
    assert refused(services["green-agent"]["command"]) == ""
    assert refused(services["client"]["command"]) == ""
    assert services["client"]["command"][1] in services["client"]["volumes"][0]


def test_the_workflow_submits_with_options_that_there_are():
    workflow = read("examples/submit/submit.yml")
    [assess] = [step["run"] for step in workflow["jobs"]["submit"]["steps"] if step.get("name") == "Assess"]
    line = assess.replace("\\\n", " ").splitlines()[0].replace("$BUILDOFF_SERVER", "https://buildoff.example")
    command = shlex.split(line)
    assert command[0].endswith("/buildoff") and command[1] == "assess"
    assert {"--agent", "--server", "--token", "--output"} <= set(command)
    assert refused(command[1:]) == ""
    # A tag and a person start it, and nothing may be written.
    assert set(workflow[True]) == {"push", "workflow_dispatch"}
    assert workflow["permissions"] == {"contents": "read"}
