"""The published JSON Schema, checked with an independent implementation."""

import json
import os
import pathlib
import subprocess

import jsonschema
import pytest

HERE = pathlib.Path(__file__).parent
CASES = json.loads((HERE.parents[1] / "crates/voxel/tests/data/cases.json").read_text())


def schema(grid, palette):
    command = [os.environ["BUILDOFF"], "schema", "--grid", str(grid), "--palette", palette]
    return json.loads(subprocess.run(command, check=True, capture_output=True).stdout)


@pytest.mark.parametrize("grid", [32, 64, 128, 256])
@pytest.mark.parametrize("palette", ["simple", "advanced"])
def test_it_is_a_schema(grid, palette):
    jsonschema.Draft202012Validator.check_schema(schema(grid, palette))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_a_spec_is_valid_exactly_if_nothing_of_it_is_dropped(case):
    validator = jsonschema.Draft202012Validator(schema(case["gridSize"], case["palette"]))
    # Aliases are accepted, but the schema does not list them.
    clean = not case["unknown"] and not case["outOfBounds"] and case["name"] != "names and aliases"
    assert validator.is_valid(case["spec"]) == clean
