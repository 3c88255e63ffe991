"""Requests to providers and the streams of the fake providers, checked with the providers' own clients.

`cargo test` saves both; see tests/suite/providers/requests.rs.
"""

import json
import os
import pathlib
import types
import typing

import anthropic.types
import google.genai.types
import openai.types.chat
import openai.types.responses
import pydantic
import pytest
import typing_extensions

TARGET = pathlib.Path(os.environ["BUILDOFF"]).parent.parent
PROVIDERS = ["openai", "anthropic", "google", "compatible"]
REQUESTS = ["plain", "short", "pictures", "schema", "effort", "none", "max", "temperature"]

# The client's types lack this field, since current models do not accept it; older models still do.
DROPPED = {("anthropic", "temperature"): ["temperature"]}


def written(provider):
    return json.loads((TARGET / "tmp" / "providers" / f"{provider}.json").read_text())


def misfit(value, kind, place="request"):
    """The reason why a JSON value does not have a type. Unlike pydantic's own check, this one rejects unknown fields."""
    origin, arguments = typing_extensions.get_origin(kind), typing_extensions.get_args(kind)
    if isinstance(kind, typing.TypeAliasType if hasattr(typing, "TypeAliasType") else ()):
        return misfit(value, kind.__value__, place)
    if origin in (typing_extensions.Required, typing_extensions.NotRequired, typing_extensions.Annotated):
        return misfit(value, arguments[0], place)
    if origin in (typing.Union, types.UnionType):
        reasons = [misfit(value, option, place) for option in arguments]
        return None if None in reasons else max(reasons, key=len)
    if typing_extensions.is_typeddict(kind):
        if not isinstance(value, dict):
            return f"{place} is no object"
        fields = typing_extensions.get_type_hints(kind, include_extras=True)
        for unknown in value.keys() - fields.keys():
            return f"{place}.{unknown} is unknown to {kind.__name__}"
        for missing in kind.__required_keys__ - value.keys():
            return f"{place}.{missing} is missing in {kind.__name__}"
        reasons = (misfit(value[name], fields[name], f"{place}.{name}") for name in value)
        return next((reason for reason in reasons if reason), None)
    if origin is not None and origin is not typing_extensions.Literal and origin is not dict:
        # The remaining generic types are all kinds of lists.
        if not isinstance(value, list):
            return f"{place} is no list"
        reasons = (misfit(item, arguments[0], f"{place}[{at}]") for at, item in enumerate(value))
        return next((reason for reason in reasons if reason), None)
    try:
        pydantic.TypeAdapter(kind).validate_python(value, strict=True)
    except pydantic.ValidationError as error:
        return f"{place}: {error}"
    return None


def test_the_check_itself_finds_errors():
    kind = anthropic.types.message_create_params.MessageCreateParamsStreaming
    sound = written("anthropic")["requests"]["plain"]
    for change, place in [
        ({"max_tokens": "many"}, "request.max_tokens"),
        ({"brand": "new"}, "request.brand"),
        ({"stream": False}, "request.stream"),
        ({"messages": [{"role": "user", "text": "a"}]}, "request.messages[0]"),
        ({"thinking": {"type": "hard"}}, "request.thinking"),
    ]:
        assert place in misfit({**sound, **change}, kind)


@pytest.mark.parametrize("provider", PROVIDERS)
def test_the_same_requests_are_saved_for_all_providers(provider):
    assert list(written(provider)["requests"]) == REQUESTS


KINDS = {
    "openai": openai.types.responses.response_create_params.ResponseCreateParamsStreaming,
    "anthropic": anthropic.types.message_create_params.MessageCreateParamsStreaming,
    "compatible": openai.types.chat.completion_create_params.CompletionCreateParamsStreaming,
}


@pytest.mark.parametrize("name", REQUESTS)
@pytest.mark.parametrize("provider", KINDS)
def test_a_request_has_the_clients_type(provider, name):
    request = written(provider)["requests"][name]
    for field in DROPPED.get((provider, name), []):
        del request[field]
    assert misfit(request, KINDS[provider]) is None


@pytest.mark.parametrize("name", REQUESTS)
def test_a_request_to_google_has_the_clients_types(name):
    request = written("google")["requests"][name]
    kinds = google.genai.types
    contents = pydantic.TypeAdapter(list[kinds.Content]).validate_python(request.pop("contents"))
    assert [content.role for content in contents] == ["user"]
    if "systemInstruction" in request:
        kinds.Content.model_validate(request.pop("systemInstruction"))
    if "generationConfig" in request:
        config = request.pop("generationConfig")
        model = kinds.GenerationConfig.model_validate(config)
        assert model.model_dump(mode="json", by_alias=True, exclude_none=True) == config
    assert request == {}


@pytest.mark.parametrize("provider", PROVIDERS)
def test_the_fake_streams_have_the_clients_types(provider):
    event = {
        "openai": openai.types.responses.ResponseStreamEvent,
        "anthropic": anthropic.types.RawMessageStreamEvent,
        "google": google.genai.types.GenerateContentResponse,
        "compatible": openai.types.chat.ChatCompletionChunk,
    }[provider]
    adapter = pydantic.TypeAdapter(event)
    streams = written(provider)["streams"]
    assert len(streams) == 5
    for said in (said for stream in streams for said in stream):
        # Pings and errors are not among these types.
        if said.get("type") in ("ping", "error") or "error" in said:
            continue
        adapter.validate_python(said)
