use buildoff::generate::{Adjustment, Note, ThinkingEffort};

use super::*;
use crate::support::fake_provider::RecordedRequest;

/// A request with every option that a model can refuse.
fn question_with_all_options() -> CompletionRequest {
    CompletionRequest {
        schema: Some(schema()),
        options: ModelOptions {
            effort: Some(ThinkingEffort::High),
            temperature: Some(0.5),
            max_output_tokens: Some(200_000),
        },
        ..question()
    }
}

/// A refusal, the note it leaves, and the change it makes to the request.
struct UnsupportedOptionCase {
    protocol: FakeProtocol,
    status: u16,
    param: Option<&'static str>,
    message: &'static str,
    step: Adjustment,
    place: &'static str,
    before: Value,
    after: Value,
}

#[rustfmt::skip]
fn unsupported_option_cases() -> Vec<UnsupportedOptionCase> {
    use FakeProtocol::{Anthropic, Compatible, Google, OpenAi};
    let tokens = |to| Adjustment::FewerTokens { from: 200_000, to };
    let plain = schema();
    let strict = json!({ "format": { "type": "json_schema", "name": "build", "schema": *plain, "strict": true } });
    let unbounded = json!({
        "type": "object", "properties": { "count": { "type": "integer", "description": "minimum: 0" } },
        "required": ["count"], "additionalProperties": false,
    });
    let named = json!({ "type": "json_schema", "json_schema": { "name": "build", "strict": true, "schema": *plain } });
    let none = Value::Null;
    [
        (OpenAi, 400, Some("max_output_tokens"), "Invalid 'max_output_tokens': integer above maximum value. Expected a value <= 128000, but got 200000 instead.", tokens(128_000), "/max_output_tokens", json!(200_000), json!(128_000)),
        (OpenAi, 400, Some("temperature"), "Unsupported parameter: 'temperature' is not supported with this model.", Adjustment::NoTemperature, "/temperature", json!(0.5), none.clone()),
        (OpenAi, 400, Some("reasoning.effort"), "Unsupported parameter: 'reasoning.effort' is not supported with this model.", Adjustment::NoEffort, "/reasoning", json!({ "effort": "high", "summary": "auto" }), none.clone()),
        (OpenAi, 400, Some("reasoning.summary"), "Your organization must be verified to generate reasoning summaries.", Adjustment::NoThinkingSummary, "/reasoning", json!({ "effort": "high", "summary": "auto" }), json!({ "effort": "high" })),
        (OpenAi, 400, Some("text.format"), "Invalid parameter: 'text.format' of type 'json_schema' is not supported with this model.", Adjustment::NoSchema, "/text", strict, none.clone()),

        (Anthropic, 400, None, "max_tokens: 200000 > 64000, which is the maximum allowed number of output tokens for some-model-1", tokens(64_000), "/max_tokens", json!(200_000), json!(64_000)),
        (Anthropic, 400, None, "`temperature` is deprecated for this model.", Adjustment::NoTemperature, "/temperature", json!(0.5), none.clone()),
        (Anthropic, 400, None, "adaptive thinking is not supported on this model", Adjustment::NoEffort, "/thinking", json!({ "type": "adaptive", "display": "summarized" }), none.clone()),
        (Anthropic, 400, None, "output_config.effort: this model does not support the effort parameter", Adjustment::NoEffort, "/output_config/effort", json!("high"), none.clone()),
        (Anthropic, 400, None, "output_config.format.schema: Invalid schema: The compiled grammar is too large", Adjustment::NoSchema, "/output_config/format", json!({ "type": "json_schema", "schema": unbounded.clone() }), none.clone()),

        (Google, 400, None, "Unable to submit request because it has a maxOutputTokens value of 200000 but the supported range is from 1 (inclusive) to 65537 (exclusive). Update the value and try again.", tokens(65_536), "/generationConfig/maxOutputTokens", json!(200_000), json!(65_536)),
        (Google, 400, None, "Thinking level is not supported for this model.", Adjustment::NoEffort, "/generationConfig/thinkingConfig", json!({ "thinkingLevel": "HIGH", "includeThoughts": true }), none.clone()),
        (Google, 400, None, "The specified schema produces a constraint that has too many states for serving.", Adjustment::NoSchema, "/generationConfig/responseJsonSchema", (*plain).clone(), none.clone()),
        (Anthropic, 400, None, "That will not do.", Adjustment::NoSchema, "/output_config", json!({ "effort": "high", "format": { "type": "json_schema", "schema": unbounded } }), json!({ "effort": "high" })),

        (Google, 400, None, "Request contains an invalid argument.", Adjustment::NoSchema, "/generationConfig/responseMimeType", json!("application/json"), none.clone()),

        (Compatible, 400, None, "Invalid max_tokens value, the valid range of max_tokens is [1, 8192]", tokens(8192), "/max_tokens", json!(200_000), json!(8192)),
        (Compatible, 400, None, "'max_tokens' is too large: 200000. This model's maximum context length is 131072 tokens and your request has 1072 input tokens (200000 > 131072 - 1072).", tokens(130_000), "/max_tokens", json!(200_000), json!(130_000)),
        (Compatible, 422, None, "max_tokens is not permitted", Adjustment::NoTokenLimit, "/max_tokens", json!(200_000), none.clone()),
        (Compatible, 400, Some("max_tokens"), "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.", Adjustment::NewNameForTokenLimit, "/max_completion_tokens", none.clone(), json!(200_000)),
        (Compatible, 400, None, "Unrecognized request argument supplied: stream_options", Adjustment::NoStreamedUsage, "/stream_options", json!({ "include_usage": true }), none.clone()),
        (Compatible, 400, None, "Argument not supported on this model: reasoning_effort", Adjustment::NoEffort, "/reasoning_effort", json!("high"), none.clone()),
        (Compatible, 400, None, "This response_format type is unavailable now", Adjustment::NoSchema, "/response_format", named.clone(), none.clone()),
        (Compatible, 422, None, "That will not do.", Adjustment::NoSchema, "/response_format", named.clone(), none.clone()),
        (Compatible, 404, None, "No endpoints found that can handle the requested parameters.", Adjustment::NoSchema, "/response_format", named, none),
    ]
    .map(|(protocol, status, param, message, step, place, before, after)| UnsupportedOptionCase { protocol, status, param, message, step, place, before, after })
    .into()
}

#[tokio::test]
async fn an_unsupported_option_is_dropped_once_and_noted_with_the_providers_message() {
    for UnsupportedOptionCase { protocol, status, param, message, step, place, before, after } in
        unsupported_option_cases()
    {
        let body =
            json!({ "error": { "message": message, "param": param, "type": "invalid_request_error" } });
        let answer = protocol.answer(&[FakePart::Text("a"), FakePart::Done]);
        let provider =
            FakeProvider::with_responses(protocol, [FakeResponse::json(status, &body), answer]).await;

        let (result, _) = ask(&provider, &question_with_all_options(), patience()).await;

        let notes = result.unwrap().notes;
        assert_eq!(notes.len(), 1, "{protocol:?} {message}: {notes:?}");
        assert_eq!(notes[0].step, step, "{protocol:?} {message}");
        assert!(notes[0].why.contains(message), "{notes:?}");
        let requests = provider.requests();
        let at = |request: &RecordedRequest| request.body.pointer(place).cloned().unwrap_or_default();
        assert_eq!((at(&requests[0]), at(&requests[1])), (before, after), "{protocol:?} {message}");
    }
}

/// Thoughts are requested by default, even if the request says nothing else about thinking.
#[tokio::test]
async fn a_google_model_without_thinking_gets_no_thinking_options() {
    let body = json!({ "error": { "code": 400, "message": "Thinking is not enabled for this model.", "status": "INVALID_ARGUMENT" } });
    let protocol = FakeProtocol::Google;
    let responses = [FakeResponse::json(400, &body), protocol.answer(&[FakePart::Text("a"), FakePart::Done])];
    let provider = FakeProvider::with_responses(protocol, responses).await;

    let (result, _) = ask(&provider, &question(), patience()).await;

    let steps: Vec<Adjustment> = result.unwrap().notes.iter().map(|note| note.step).collect();
    assert_eq!(steps, [Adjustment::NoThinkingSummary]);
    let recorded = provider.requests();
    let how = |at: usize| recorded[at].body["generationConfig"].clone();
    assert_eq!(how(0), json!({ "maxOutputTokens": 1000, "thinkingConfig": { "includeThoughts": true } }));
    assert_eq!(how(1), json!({ "maxOutputTokens": 1000 }));
}

#[tokio::test]
async fn repeated_refusals_leave_the_plain_request() {
    let messages_in_turn = [
        "temperature is not supported",
        "stream_options is not supported",
        "reasoning_effort is not supported",
        "response_format is not supported",
        "max_tokens must be at most 4096",
    ];
    let refuse =
        messages_in_turn.map(|message| FakeResponse::json(400, &json!({ "error": { "message": message } })));
    let protocol = FakeProtocol::Compatible;
    let responses = refuse.into_iter().chain([protocol.answer(&[FakePart::Text("a"), FakePart::Done])]);
    let provider = FakeProvider::with_responses(protocol, responses).await;

    let (result, _) = ask(&provider, &question_with_all_options(), patience()).await;

    assert_eq!(result.unwrap().notes.len(), 5);
    let last = provider.requests().pop().unwrap().body;
    let messages = json!([
        { "role": "system", "content": "You build." }, { "role": "user", "content": "a duck" },
        { "role": "assistant", "content": "{}" }, { "role": "user", "content": "again, please" },
    ]);
    assert_eq!(last, json!({ "model": MODEL, "messages": messages, "stream": true, "max_tokens": 4096 }));
}

/// Retries are bounded even if a provider keeps refusing the same option.
#[tokio::test]
async fn a_provider_that_refuses_every_request_fails_with_a_note_for_each() {
    for protocol in FakeProtocol::ALL {
        let message = "max_tokens over 9000, temperature, stream_options, summary, effort, schema: all bad";
        let body = json!({ "error": { "message": message } });
        let provider = FakeProvider::with_handler(protocol, move |_| FakeResponse::json(400, &body)).await;

        let (result, _) = ask(&provider, &question_with_all_options(), patience()).await;

        let GenerateError { kind, partial, .. } = result.unwrap_err();
        assert_eq!(kind, GenerateErrorKind::BadRequest, "{protocol:?}");
        let steps: Vec<Adjustment> = partial.notes.iter().map(|note: &Note| note.step).collect();
        assert!(
            steps.contains(&Adjustment::FewerTokens { from: 200_000, to: 9000 }),
            "{protocol:?} {steps:?}"
        );
        assert!(steps.contains(&Adjustment::NoSchema), "{protocol:?} {steps:?}");
        assert_eq!(provider.requests().len(), steps.len() + 1, "{protocol:?}");
        assert!(steps.len() <= 7, "{protocol:?} {steps:?}");
    }
}
