"""The OpenAPI document and recorded responses, validated by independent implementations.

`cargo test` saves both; see tests/suite/openapi.rs.
"""

import json
import os
import pathlib

import jsonschema
import openapi_spec_validator
import pytest

WRITTEN = pathlib.Path(os.environ["BUILDOFF"]).parent.parent / "tmp" / "openapi"
DOCUMENT = json.loads((WRITTEN / "document.json").read_text())
ANSWERS = json.loads((WRITTEN / "answers.json").read_text())
OPERATIONS = {
    operation["operationId"]: operation for item in DOCUMENT["paths"].values() for operation in item.values()
}


def resolved(schema):
    """The schema with its references resolved. The document has no recursive schemas."""
    if isinstance(schema, list):
        return [resolved(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    schema = {key: value if key in ("example", "enum") else resolved(value) for key, value in schema.items()}
    if "$ref" in schema:
        name = schema.pop("$ref").removeprefix("#/components/schemas/")
        return {**resolved(DOCUMENT["components"]["schemas"][name]), **schema}
    return schema


def closed(schema, part=False):
    """The schema with all properties forbidden that it does not list."""
    if isinstance(schema, list):
        return [closed(one, part) for one in schema]
    if not isinstance(schema, dict):
        return schema
    result = {}
    for key, value in schema.items():
        if key == "properties":
            result[key] = {name: closed(one) for name, one in value.items()}
        else:
            # What stands in a part of a whole is a part of it, too, also where it is one of several.
            is_part = key == "allOf" or (part and key == "oneOf")
            result[key] = value if key in ("example", "enum") else closed(value, part=is_part)
    named = "properties" in schema or "allOf" in schema
    if named and not part:
        result["unevaluatedProperties"] = False
    return result


def shape(answer):
    content = OPERATIONS[answer["operation"]]["responses"][answer["status"]]["content"]
    return closed(resolved(content[answer["kind"]]["schema"]))


JSON = [answer for answer in ANSWERS if answer["kind"] in ("application/json", "application/jsonl")]


def test_the_document_is_valid():
    openapi_spec_validator.validate(DOCUMENT)


def test_every_example_matches_its_schema():
    for name, component in DOCUMENT["components"]["schemas"].items():
        for field, schema in component.get("properties", {}).items():
            if "example" in schema:
                validator = jsonschema.Draft202012Validator(resolved(schema))
                assert validator.is_valid(schema["example"]), f"{name}.{field}"


@pytest.mark.parametrize("at", range(len(JSON)), ids=lambda at: f"{JSON[at]['operation']}-{JSON[at]['status']}-{at}")
def test_a_response_matches_its_schema_without_extra_fields(at):
    answer = JSON[at]
    checker = jsonschema.Draft202012Validator(shape(answer), format_checker=jsonschema.FormatChecker())
    assert [error.message for error in checker.iter_errors(answer["body"])] == []


def test_the_check_itself_finds_errors():
    answer = next(answer for answer in JSON if answer["operation"] == "leaderboard" and answer["status"] == "200")
    validator = jsonschema.Draft202012Validator(shape(answer))
    first, *others = answer["body"]["models"]
    for change in [{"rank": "1"}, {"colour": "red"}, {"skill": {"rating": 1500.0}}]:
        models = [{**first, **change}, *others]
        assert not validator.is_valid({**answer["body"], "models": models})
