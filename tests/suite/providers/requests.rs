//! The exact requests to providers. These requests and the streams of [`FakeProtocol`] are also saved for
//! `tests/python`, which checks them with the providers' own clients.

use std::fs;
use std::path::Path;

use buildoff::generate::ThinkingEffort;
use voxel::{self, GridSize, Palette};

use super::*;

/// Requests to record, each with a name.
fn questions() -> Vec<(&'static str, CompletionRequest)> {
    let plain = CompletionRequest { options: ModelOptions::default(), ..question() };
    let build = Some(Arc::new(voxel::schema(GridSize::G32, Palette::Advanced)));
    let effort = |effort| ModelOptions { effort: Some(effort), ..ModelOptions::default() };
    let max = ModelOptions { effort: Some(ThinkingEffort::Max), ..question().options };
    vec![
        ("plain", plain.clone()),
        (
            "short",
            CompletionRequest {
                prompt: ChatPrompt { system: String::new(), ..question().prompt },
                ..question()
            },
        ),
        ("pictures", pictures::question_about(pictures::nine_pictures_as_png())),
        ("schema", CompletionRequest { schema: build.clone(), ..question() }),
        ("effort", CompletionRequest { options: effort(ThinkingEffort::High), ..plain.clone() }),
        ("none", CompletionRequest { options: effort(ThinkingEffort::None), ..plain.clone() }),
        ("max", CompletionRequest { options: max, schema: build, ..question() }),
        (
            "temperature",
            CompletionRequest {
                options: ModelOptions { temperature: Some(0.7), ..ModelOptions::default() },
                ..plain
            },
        ),
    ]
}

async fn sent_body(protocol: FakeProtocol, question: &CompletionRequest) -> Value {
    let provider =
        FakeProvider::with_responses(protocol, [protocol.answer(&[FakePart::Text("a"), FakePart::Done])])
            .await;
    ask(&provider, question, patience()).await.0.unwrap();
    provider.requests().pop().unwrap().body
}

#[tokio::test]
async fn every_kind_of_request_and_stream_is_recorded_for_python() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("providers");
    fs::create_dir_all(&folder).unwrap();
    for protocol in FakeProtocol::ALL {
        let mut requests = serde_json::Map::new();
        for (name, question) in questions() {
            requests.insert(name.to_owned(), sent_body(protocol, &question).await);
        }
        let parts =
            [FakePart::HiddenThinking, FakePart::Thinking("hm"), FakePart::Text("a"), FakePart::Text("b")];
        let ends = [
            FakePart::Done,
            FakePart::Truncated,
            FakePart::Filtered,
            FakePart::Refused("no"),
            FakePart::Overloaded,
        ];
        let streams: Vec<Value> =
            ends.iter().map(|end| Value::Array(protocol.events(&[&parts[..], &[*end]].concat()))).collect();
        let file = folder.join(format!("{protocol:?}.json").to_lowercase());
        let text = json!({ "requests": requests, "streams": streams }).to_string();
        fs::write(file, text).unwrap();
    }
}

#[tokio::test]
async fn a_request_follows_each_providers_protocol() {
    let question = CompletionRequest {
        schema: Some(schema()),
        options: ModelOptions {
            effort: Some(ThinkingEffort::Xhigh),
            temperature: Some(0.7),
            ..question().options
        },
        ..question()
    };
    let unbounded = json!({
        "type": "object", "properties": { "count": { "type": "integer", "description": "minimum: 0" } },
        "required": ["count"], "additionalProperties": false,
    });
    let user = json!({ "role": "user", "content": "a duck" });
    let messages = json!([{ "role": "system", "content": "You build." }, user]);
    let input = json!([{ "type": "message", "role": "user", "content": "a duck" }]);
    for (protocol, expected) in [
        (
            FakeProtocol::OpenAi,
            json!({
                "model": MODEL, "instructions": "You build.", "input": input, "max_output_tokens": 1000,
                "reasoning": { "effort": "xhigh", "summary": "auto" }, "temperature": 0.7,
                "text": { "format": { "type": "json_schema", "name": "build", "schema": *schema(), "strict": true } },
                "store": false, "stream": true,
            }),
        ),
        (
            FakeProtocol::Anthropic,
            json!({
                "model": MODEL, "stream": true, "max_tokens": 1000, "system": "You build.",
                "messages": [user], "thinking": { "type": "adaptive", "display": "summarized" },
                "output_config": { "effort": "xhigh", "format": { "type": "json_schema", "schema": unbounded } },
                "temperature": 0.7,
            }),
        ),
        (
            FakeProtocol::Google,
            json!({
                "contents": [{ "role": "user", "parts": [{ "text": "a duck" }] }],
                "systemInstruction": { "parts": [{ "text": "You build." }] },
                "generationConfig": {
                    "maxOutputTokens": 1000, "temperature": 0.7,
                    "thinkingConfig": { "thinkingLevel": "HIGH", "includeThoughts": true },
                    "responseMimeType": "application/json", "responseJsonSchema": *schema(),
                },
            }),
        ),
        (
            FakeProtocol::Compatible,
            json!({
                "model": MODEL, "messages": messages, "stream": true, "stream_options": { "include_usage": true },
                "max_tokens": 1000, "reasoning_effort": "xhigh", "temperature": 0.7,
                "response_format": { "type": "json_schema", "json_schema": {
                    "name": "build", "strict": true, "schema": *schema(),
                } },
            }),
        ),
    ] {
        assert_eq!(sent_body(protocol, &question).await, expected, "{protocol:?}");
    }
}

#[tokio::test]
async fn a_base_url_may_or_may_not_end_in_a_slash_or_a_version() {
    for (protocol, ends) in [
        (FakeProtocol::OpenAi, ["/v1", "/v1/"]),
        (FakeProtocol::Anthropic, ["/", "/v1/"]),
        (FakeProtocol::Google, ["/", "/v1beta"]),
        (FakeProtocol::Compatible, ["/api/v1", "/api/v1/"]),
    ] {
        for end in ends {
            let provider = FakeProvider::with_responses(
                protocol,
                [protocol.answer(&[FakePart::Text("a"), FakePart::Done])],
            )
            .await;
            let mut endpoint = provider.endpoint();
            endpoint.base_url = format!("{}{end}", provider.url);
            let client = buildoff::generate::provider(&endpoint, patience(), false).unwrap();
            // The fake provider fails the test if another path was requested.
            assert_eq!(client.ask(&question(), &mut |_| ()).await.unwrap().text, "a", "{protocol:?} {end}");
        }
    }
}
