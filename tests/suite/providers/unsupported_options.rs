use buildoff::generate::{Adjustment, EffortSet, Note, ThinkingEffort};

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
            ..ModelOptions::default()
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
    use ThinkingEffort::{Low, Medium};
    let tokens = |to| Adjustment::FewerTokens { from: 200_000, to };
    let to_effort = |to| Adjustment::Effort { from: ThinkingEffort::High, to };
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
        (OpenAi, 400, Some("reasoning.summary"), "Your organization must be verified to generate reasoning summaries.", Adjustment::NoThinkingSummary, "/reasoning", json!({ "effort": "high", "summary": "auto" }), json!({ "effort": "high" })),
        (OpenAi, 400, Some("text.format"), "Invalid parameter: 'text.format' of type 'json_schema' is not supported with this model.", Adjustment::NoSchema, "/text", strict, none.clone()),

        (Anthropic, 400, None, "max_tokens: 200000 > 64000, which is the maximum allowed number of output tokens for some-model-1", tokens(64_000), "/max_tokens", json!(200_000), json!(64_000)),
        (Anthropic, 400, None, "`temperature` is deprecated for this model.", Adjustment::NoTemperature, "/temperature", json!(0.5), none.clone()),
        (Anthropic, 400, None, "output_config.format.schema: Invalid schema: The compiled grammar is too large", Adjustment::NoSchema, "/output_config/format", json!({ "type": "json_schema", "schema": unbounded.clone() }), none.clone()),

        (Google, 400, None, "Unable to submit request because it has a maxOutputTokens value of 200000 but the supported range is from 1 (inclusive) to 65537 (exclusive). Update the value and try again.", tokens(65_536), "/generationConfig/maxOutputTokens", json!(200_000), json!(65_536)),
        (Google, 400, None, "The specified schema produces a constraint that has too many states for serving.", Adjustment::NoSchema, "/generationConfig/responseJsonSchema", (*plain).clone(), none.clone()),
        (Anthropic, 400, None, "That will not do.", Adjustment::NoSchema, "/output_config", json!({ "effort": "high", "format": { "type": "json_schema", "schema": unbounded } }), json!({ "effort": "high" })),

        (Google, 400, None, "Request contains an invalid argument.", Adjustment::NoSchema, "/generationConfig/responseMimeType", json!("application/json"), none.clone()),

        (Compatible, 400, None, "Invalid max_tokens value, the valid range of max_tokens is [1, 8192]", tokens(8192), "/max_tokens", json!(200_000), json!(8192)),
        (Compatible, 400, None, "'max_tokens' is too large: 200000. This model's maximum context length is 131072 tokens and your request has 1072 input tokens (200000 > 131072 - 1072).", tokens(130_000), "/max_tokens", json!(200_000), json!(130_000)),
        (Compatible, 422, None, "max_tokens is not permitted", Adjustment::NewNameForTokenLimit, "/max_tokens", json!(200_000), none.clone()),
        (Compatible, 400, None, "System role not supported", Adjustment::SystemInFirstTurn, "/messages/0", json!({ "role": "system", "content": "You build." }), json!({ "role": "user", "content": "You build.\n\na duck" })),
        (Google, 400, None, "Developer instruction is not enabled for models/some-model-1", Adjustment::SystemInFirstTurn, "/systemInstruction", json!({ "parts": [{ "text": "You build." }] }), none.clone()),

        (OpenAi, 400, Some("reasoning.effort"), "Unsupported value: 'high' is not supported with the 'some-model-1' model. Supported values are: 'none', 'low', and 'medium'.", to_effort(Medium), "/reasoning/effort", json!("high"), json!("medium")),
        (Anthropic, 400, None, "This model does not support effort level 'high'. Supported levels: low, max, medium.", to_effort(Medium), "/output_config/effort", json!("high"), json!("medium")),
        (Google, 400, None, "Thinking level HIGH is not supported for this model. Please retry with other thinking level.", to_effort(Medium), "/generationConfig/thinkingConfig/thinkingLevel", json!("HIGH"), json!("MEDIUM")),
        (Compatible, 400, None, "reasoning_effort: Input should be 'none' or 'low'", to_effort(Low), "/reasoning_effort", json!("high"), json!("low")),

        (Compatible, 400, Some("max_tokens"), "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.", Adjustment::NewNameForTokenLimit, "/max_completion_tokens", none.clone(), json!(200_000)),
        (Compatible, 400, None, "Unrecognized request argument supplied: stream_options", Adjustment::NoStreamedUsage, "/stream_options", json!({ "include_usage": true }), none.clone()),
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
        "response_format is not supported",
        "max_tokens must be at most 4096",
    ];
    let refuse =
        messages_in_turn.map(|message| FakeResponse::json(400, &json!({ "error": { "message": message } })));
    let protocol = FakeProtocol::Compatible;
    let responses = refuse.into_iter().chain([protocol.answer(&[FakePart::Text("a"), FakePart::Done])]);
    let provider = FakeProvider::with_responses(protocol, responses).await;

    let all = question_with_all_options();
    let without_effort = ModelOptions { effort: None, ..all.options };

    let all = CompletionRequest { options: without_effort, ..all };
    let (result, _) = ask(&provider, &all, patience()).await;

    assert_eq!(result.unwrap().notes.len(), 4);
    let last = provider.requests().pop().unwrap().body;
    let messages = json!([
        { "role": "system", "content": "You build." }, { "role": "user", "content": "a duck" },
    ]);
    assert_eq!(last, json!({ "model": MODEL, "messages": messages, "stream": true, "max_tokens": 4096 }));
}

/// Retries are bounded even if a provider keeps refusing the same option.
#[tokio::test]
async fn a_provider_that_refuses_every_request_fails_with_a_note_for_each() {
    for protocol in FakeProtocol::ALL {
        let message = "max_tokens over 9000, temperature, stream_options, summary, schema: all bad";
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

fn with_effort(effort: ThinkingEffort) -> CompletionRequest {
    CompletionRequest {
        options: ModelOptions { effort: Some(effort), ..ModelOptions::default() },
        ..question()
    }
}

fn refusal(message: &str) -> FakeResponse {
    FakeResponse::json(400, &json!({ "error": { "message": message, "type": "invalid_request_error" } }))
}

fn answer(protocol: FakeProtocol) -> FakeResponse {
    protocol.answer(&[FakePart::Text("a"), FakePart::Done])
}

/// Without the effort, the provider's default would be used, which may be the opposite of what was asked.
#[tokio::test]
async fn an_effort_that_nothing_comes_near_is_refused_rather_than_left_out() {
    use FakeProtocol::{Anthropic, Compatible, Google, OpenAi};
    use ThinkingEffort::{High, Low, Max, Medium, None};
    for (protocol, effort, message) in [
        (OpenAi, High, "Unsupported parameter: 'reasoning.effort' is not supported with this model."),
        (
            OpenAi,
            None,
            "Unsupported value: 'none' is not supported for reasoning.effort. Supported values are: 'medium' and 'high'.",
        ),
        (Anthropic, High, "adaptive thinking is not supported on this model"),
        (Anthropic, Low, "output_config.effort: this model does not support the effort parameter"),
        (Google, Medium, "Thinking level is not supported for this model."),
        (Compatible, Max, "`reasoning_effort` must be one of `none` or `default`"),
        (Compatible, None, "Argument not supported on this model: reasoning_effort"),
    ] {
        let provider = FakeProvider::with_responses(protocol, [refusal(message)]).await;
        let (result, _) = ask(&provider, &with_effort(effort), patience()).await;
        let failure = result.unwrap_err();
        assert_eq!(failure.kind, GenerateErrorKind::BadRequest, "{protocol:?} {effort:?}");
        let said = format!("the effort {} is not supported, and no similar one is known.", effort.name());
        assert!(failure.message.contains(&said) && failure.message.contains(message), "{}", failure.message);
        assert!(failure.is_final() && failure.cost_nothing());
    }
}

/// What was not asked to think may be told to think a little, and a model that never thinks needs not be told.
#[tokio::test]
async fn not_to_think_becomes_at_most_a_little_and_is_left_out_where_a_model_never_thinks() {
    use FakeProtocol::{Anthropic, Compatible, Google, OpenAi};
    use ThinkingEffort::{Low, Minimal};
    for (protocol, messages, sent) in [
        (
            OpenAi,
            &[
                "Unsupported value: 'none' is not supported with this model. Supported values are: 'minimal', 'low', \
               'medium', and 'high' for reasoning.effort.",
            ][..],
            Some(Minimal),
        ),
        (
            Google,
            &[
                "Budget 0 is invalid. This model only works in thinking mode.",
                "Thinking level MINIMAL is not supported for this model. Please retry with other thinking level.",
            ],
            Some(Low),
        ),
        (Anthropic, &["thinking.type: \"disabled\" is not supported for this model."], Some(Low)),
        (Compatible, &["Thinking is not supported by this model."], None),
    ] {
        let responses = messages.iter().map(|message| refusal(message)).chain([answer(protocol)]);
        let provider = FakeProvider::with_responses(protocol, responses).await;
        let (result, _) = ask(&provider, &with_effort(ThinkingEffort::None), patience()).await;
        let answered = result.unwrap();
        assert_eq!(answered.sent.effort, sent, "{protocol:?}");
        let step =
            sent.map_or(Adjustment::NoEffort, |to| Adjustment::Effort { from: ThinkingEffort::None, to });
        assert_eq!(answered.notes.last().unwrap().step, step, "{protocol:?}");
    }
}

#[tokio::test]
async fn an_effort_that_the_protocol_or_the_catalog_does_not_know_is_rounded_before_anything_is_sent() {
    use ThinkingEffort::{High, Low, Max, Minimal};
    for (protocol, efforts, asked, sent) in [
        (FakeProtocol::Google, EffortSet::default(), Max, High),
        (FakeProtocol::Anthropic, EffortSet::default(), Minimal, Low),
        (FakeProtocol::Compatible, EffortSet::of(&[ThinkingEffort::None, Low, High]), Max, High),
    ] {
        let provider = FakeProvider::with_responses(protocol, [answer(protocol)]).await;
        let mut question = with_effort(asked);
        question.options.efforts = efforts;
        let (result, _) = ask(&provider, &question, patience()).await;
        let answered = result.unwrap();
        assert_eq!(answered.sent.effort, Some(sent), "{protocol:?}");
        assert_eq!(answered.notes[0].step, Adjustment::Effort { from: asked, to: sent });
        assert_eq!(provider.requests().len(), 1);
    }
    let provider = FakeProvider::with_responses(FakeProtocol::Compatible, []).await;
    let mut question = with_effort(ThinkingEffort::None);
    question.options.efforts = EffortSet::of(&[High, Max]);
    let (result, _) = ask(&provider, &question, patience()).await;
    let message = result.unwrap_err().message;
    assert!(
        message.contains("the effort none is not supported") && message.contains("high, max"),
        "{message}"
    );
}

#[tokio::test]
async fn a_cap_that_was_asked_for_is_lowered_but_never_lifted() {
    for (protocol, messages) in [
        (FakeProtocol::OpenAi, &["max_output_tokens is not supported"][..]),
        (FakeProtocol::Google, &["maxOutputTokens is not supported"]),
        (
            FakeProtocol::Compatible,
            &["max_tokens is not supported", "max_completion_tokens is not supported"],
        ),
        (
            FakeProtocol::Compatible,
            &["max_tokens must be at most 9000", "max_tokens is bad", "max_tokens is bad"],
        ),
    ] {
        let responses = messages.iter().map(|message| refusal(message));
        let provider = FakeProvider::with_responses(protocol, responses).await;
        let options = ModelOptions { max_output_tokens: Some(20_000), ..ModelOptions::default() };
        let (result, _) = ask(&provider, &CompletionRequest { options, ..question() }, patience()).await;
        let failure = result.unwrap_err();
        assert!(failure.message.contains("a request without it could cost more"), "{failure:?}");
        assert!(failure.partial.sent.max_output_tokens.is_some());
        assert_eq!(provider.requests().len(), messages.len());
    }
}

/// No build fits in so few tokens, and a request with them would be paid for in vain.
#[tokio::test]
async fn a_limit_is_not_lowered_below_what_a_build_takes() {
    let message = "max_tokens: the valid range is [1, 1000]";
    let provider = FakeProvider::with_responses(FakeProtocol::Anthropic, [refusal(message)]).await;
    let (result, _) = ask(&provider, &question_with_all_options(), patience()).await;
    assert!(result.unwrap_err().message.contains("the limit of 200000 output tokens is not supported"));
}

#[tokio::test]
async fn what_a_model_refused_is_not_sent_to_it_again_until_it_is_asked_differently() {
    let protocol = FakeProtocol::Compatible;
    let provider = FakeProvider::with_handler(protocol, move |request| {
        if request.body.get("response_format").is_some() {
            refusal("This response_format type is unavailable now")
        } else if request.body["reasoning_effort"] == "max" {
            refusal("Unsupported value for reasoning_effort. Supported values are: 'low' and 'high'.")
        } else {
            answer(protocol)
        }
    })
    .await;
    let client = provider_client(&provider);
    let max = CompletionRequest { schema: Some(schema()), ..with_effort(ThinkingEffort::Max) };
    let high = CompletionRequest { schema: Some(schema()), ..with_effort(ThinkingEffort::High) };
    let other = CompletionRequest { model: "another-model".to_owned(), ..max.clone() };
    for (question, requests) in [(&max, 3), (&max, 1), (&high, 2), (&other, 3), (&max, 1), (&high, 1)] {
        let before = provider.requests().len();
        let answered = client.ask(question, &mut |_| ()).await.unwrap();
        assert_eq!(provider.requests().len() - before, requests, "{question:?}");
        let steps: Vec<_> = answered.notes.iter().map(|note| note.step).collect();
        assert!(steps.contains(&Adjustment::NoSchema), "what was changed is told each time: {steps:?}");
        assert_eq!(answered.sent.effort, Some(ThinkingEffort::High));
        assert!(!answered.sent.schema);
    }
}

#[tokio::test]
async fn what_did_not_help_and_what_depends_on_the_prompt_is_not_remembered() {
    let protocol = FakeProtocol::Compatible;
    let context = "This model's maximum context length is 131072 tokens and your request has 1072 input tokens \
                   (max_tokens 200000 is too large).";
    let responses = [
        refusal("This response_format type is unavailable now"),
        refusal("You may not."),
        answer(protocol),
        refusal(context),
        answer(protocol),
        answer(protocol),
    ];
    let provider = FakeProvider::with_responses(protocol, responses).await;
    let client = provider_client(&provider);
    let options = ModelOptions { max_output_tokens: Some(200_000), ..ModelOptions::default() };
    let question = CompletionRequest { schema: Some(schema()), options, ..question() };

    client.ask(&question, &mut |_| ()).await.unwrap_err();
    for lowered in [None, Some(130_000), None] {
        let answered = client.ask(&question, &mut |_| ()).await.unwrap();
        assert_eq!(answered.sent.max_output_tokens, lowered.or(Some(200_000)));
        assert!(answered.sent.schema);
    }
}

fn provider_client(fake: &FakeProvider) -> Arc<dyn buildoff::generate::ModelProvider> {
    provider(&fake.endpoint(), patience(), false).unwrap()
}
