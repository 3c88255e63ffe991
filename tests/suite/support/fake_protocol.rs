//! The providers' protocols as their documentation and their clients define them: the events they send and
//! the requests they accept. `tests/python` checks both with those clients.

use buildoff::generate::ProviderKind;
use serde_json::{Value, json};

use super::fake_provider::{API_KEY, FakeResponse, RecordedRequest};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FakeProtocol {
    OpenAi,
    Anthropic,
    Google,
    Compatible,
}

/// A part of an answer, independent of the protocol.
#[derive(Clone, Copy, Debug)]
pub enum FakePart<'a> {
    Thinking(&'a str),
    /// Thinking without its text: only its start or its token count is sent.
    HiddenThinking,
    Text(&'a str),
    Done,
    Truncated,
    Filtered,
    /// A refusal by the model. Google has no special form for it.
    Refused(&'a str),
    /// An error in the middle of the stream.
    Overloaded,
}

pub const MODEL: &str = "some-model-1";

impl FakeProtocol {
    pub const ALL: [Self; 4] = [Self::OpenAi, Self::Anthropic, Self::Google, Self::Compatible];

    pub fn kind(self) -> ProviderKind {
        match self {
            Self::OpenAi => ProviderKind::OpenAi,
            Self::Anthropic => ProviderKind::Anthropic,
            Self::Google => ProviderKind::Google,
            Self::Compatible => ProviderKind::Compatible,
        }
    }

    pub fn base_path(self) -> &'static str {
        match self {
            Self::OpenAi => "/v1",
            Self::Compatible => "/api/v1",
            Self::Anthropic | Self::Google => "",
        }
    }

    /// A complete response with these parts.
    pub fn answer(self, parts: &[FakePart<'_>]) -> FakeResponse {
        FakeResponse::stream().send(self.stream(parts))
    }

    /// The bytes of a stream with these parts, with its closing events if the last part ends the answer.
    pub fn stream(self, parts: &[FakePart<'_>]) -> String {
        let mut stream: String = self.events(parts).iter().map(|event| self.frame(event)).collect();
        let is_over = !matches!(
            parts.last(),
            None | Some(
                FakePart::Text(_) | FakePart::Thinking(_) | FakePart::HiddenThinking | FakePart::Overloaded
            )
        );
        if self == Self::Compatible && is_over {
            stream.push_str("data: [DONE]\n\n");
        }
        stream
    }

    /// One event in the format of the stream.
    pub fn frame(self, event: &Value) -> String {
        match (self, event["type"].as_str()) {
            (Self::OpenAi | Self::Anthropic, Some(name)) => format!("event: {name}\ndata: {event}\n\n"),
            (Self::Google, _) => format!("data: {event}\r\n\r\n"),
            _ => format!("data: {event}\n\n"),
        }
    }

    /// The events of an answer, numbered if the provider numbers them.
    pub fn events(self, parts: &[FakePart<'_>]) -> Vec<Value> {
        match self {
            Self::OpenAi => openai(parts),
            Self::Anthropic => anthropic(parts),
            Self::Google => google(parts),
            Self::Compatible => compatible(parts),
        }
    }

    /// Why the provider would reject a request, if it would.
    pub fn request_error(self, method: &str, request: &RecordedRequest) -> Option<String> {
        let google = format!("/v1beta/models/{MODEL}:streamGenerateContent?alt=sse");
        let bearer = format!("Bearer {API_KEY}");
        let (path, headers): (&str, &[(&str, &str)]) = match self {
            Self::OpenAi => ("/v1/responses", &[("authorization", &bearer)]),
            Self::Anthropic => {
                ("/v1/messages", &[("x-api-key", API_KEY), ("anthropic-version", "2023-06-01")])
            }
            Self::Google => (&google, &[("x-goog-api-key", API_KEY)]),
            Self::Compatible => ("/api/v1/chat/completions", &[("authorization", &bearer)]),
        };
        if self == Self::OpenAi && request.path.starts_with("/v1/responses/") {
            let wrong_key = request.headers.get("authorization") != Some(&bearer);
            let is_known = matches!(
                (method, request.path.as_str()),
                ("GET", "/v1/responses/resp_1?stream=true") | ("POST", "/v1/responses/resp_1/cancel")
            );
            return (wrong_key || !is_known).then(|| format!("{method} {}", request.path));
        }
        if request.body["background"] == true && request.body["store"] != true {
            return Some("an answer in the background that is not stored".to_owned());
        }
        if method != "POST" || request.path != path {
            return Some(format!("{method} {}", request.path));
        }
        // MiniMax has a field of its own.
        let is_minimax = request.body["model"].as_str().is_some_and(|model| model.starts_with("MiniMax-"));
        let own = if self == Self::Compatible && is_minimax { "reasoning_split" } else { "" };
        let fields =
            format!("{} {} {own}", self.body_fields(), if self == Self::Google { "" } else { "stream!" });
        wrong_headers(headers, request)
            .or_else(|| wrong_fields(&fields, &request.body))
            .or_else(|| self.pictures(&request.body).err())
    }

    /// Why the provider would reject a request in a batch, if it would. Nothing can be streamed from one.
    pub fn batched_body_error(self, body: &Value) -> Option<String> {
        if body.get("background").is_some() {
            return Some("the field background".to_owned());
        }
        wrong_fields(self.body_fields(), body).or_else(|| self.pictures(body).err())
    }

    /// The fields of a request that is not streamed. Those with ! must be there.
    fn body_fields(self) -> &'static str {
        match self {
            Self::OpenAi => {
                "model! input! instructions max_output_tokens reasoning temperature text store! background"
            }
            Self::Anthropic => "model! messages! max_tokens! system thinking output_config temperature",
            Self::Google => "contents! systemInstruction generationConfig",
            Self::Compatible => {
                "model! messages! max_tokens max_completion_tokens reasoning_effort temperature \
                 response_format stream_options"
            }
        }
    }

    /// A complete answer in one piece.
    pub fn document(self, text: &str) -> Value {
        match self {
            Self::OpenAi => {
                let events = self.events(&[FakePart::HiddenThinking, FakePart::Text(text), FakePart::Done]);
                events.last().unwrap()["response"].clone()
            }
            Self::Anthropic => json!({
                "id": "msg_1", "type": "message", "role": "assistant", "model": MODEL,
                "content": [
                    { "type": "thinking", "thinking": "{\"draft\": 1}", "signature": "" },
                    { "type": "text", "text": text },
                ],
                "stop_reason": "end_turn", "stop_sequence": null,
                "usage": {
                    "input_tokens": 60, "cache_creation_input_tokens": 10, "cache_read_input_tokens": 30,
                    "output_tokens": 50,
                },
            }),
            Self::Google => json!({
                "candidates": [{
                    "content": { "role": "model", "parts": [
                        { "text": "a draft", "thought": true }, { "text": text },
                    ] },
                    "finishReason": "STOP", "index": 0,
                }],
                "usageMetadata": {
                    "promptTokenCount": 100, "candidatesTokenCount": 30, "thoughtsTokenCount": 20,
                    "totalTokenCount": 150,
                },
                "modelVersion": MODEL, "responseId": "r1",
            }),
            Self::Compatible => panic!("compatible endpoints have no batches"),
        }
    }
}

/// A missing, different or unexpected header: only the provider's own and the common ones may be sent.
fn wrong_headers(own: &[(&str, &str)], request: &RecordedRequest) -> Option<String> {
    let common = [
        ("content-type", "application/json"),
        ("accept", "text/event-stream"),
        ("accept-encoding", "identity"),
    ];
    let expected: Vec<_> = own.iter().chain(&common).copied().collect();
    let wrong = expected.iter().find(|(name, value)| request.headers.get(*name).is_none_or(|is| is != value));
    if let Some((name, _)) = wrong {
        return Some(format!("{name}: {:?}", request.headers.get(*name)));
    }
    let known = |name: &String| {
        let name = name.as_str();
        expected.iter().any(|(known, _)| *known == name)
            || ["host", "content-length", "user-agent"].contains(&name)
    };
    request.headers.keys().find(|name| !known(name)).map(|name| format!("the header {name}"))
}

fn wrong_fields(fields: &str, body: &Value) -> Option<String> {
    let Some(body) = body.as_object() else { return Some("a body that is no JSON object".to_owned()) };
    let fields: Vec<&str> = fields.split_whitespace().collect();
    let missing =
        fields.iter().find_map(|field| field.strip_suffix('!').filter(|field| !body.contains_key(*field)));
    if let Some(missing) = missing {
        return Some(format!("a body without {missing}"));
    }
    let known = |name: &str| fields.iter().any(|field| field.trim_end_matches('!') == name);
    body.iter()
        .find(|(name, value)| !known(name) || value.is_null())
        .map(|(name, _)| format!("the field {name}"))
}

fn openai(parts: &[FakePart<'_>]) -> Vec<Value> {
    let response = |status: &str, more: Value| {
        let mut response = json!({
            "id": "resp_1", "object": "response", "created_at": 1_790_000_000, "status": status,
            "model": MODEL, "output": [], "parallel_tool_calls": true, "tool_choice": "auto", "tools": [],
            "error": null, "incomplete_details": null, "instructions": null, "metadata": {},
        });
        response.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        response
    };
    let usage = json!({
        "input_tokens": 100, "input_tokens_details": { "cached_tokens": 0, "cache_write_tokens": 0 },
        "output_tokens": 50, "output_tokens_details": { "reasoning_tokens": 20 }, "total_tokens": 150,
    });
    let place = |kind: &str, more: Value| {
        let mut event = json!({ "type": kind, "item_id": "msg_1", "output_index": 1, "content_index": 0 });
        event.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        event
    };
    let output_text = |text: &str| json!({ "type": "output_text", "text": text, "annotations": [] });
    let item = |status: &str, content: Value| json!({ "id": "msg_1", "type": "message", "role": "assistant", "status": status, "content": content });
    let mut events = vec![
        json!({ "type": "response.created", "response": response("in_progress", json!({})) }),
        json!({ "type": "response.in_progress", "response": response("in_progress", json!({})) }),
    ];
    let mut text = String::new();
    let close = |events: &mut Vec<Value>, text: &str, status: &str| {
        if !text.is_empty() {
            events.push(place("response.output_text.done", json!({ "text": text, "logprobs": [] })));
            events.push(place("response.content_part.done", json!({ "part": output_text(text) })));
        }
        let done = item(status, json!([output_text(text)]));
        events.push(json!({ "type": "response.output_item.done", "output_index": 1, "item": done }));
        done
    };
    for part in parts {
        match *part {
            FakePart::HiddenThinking => {
                let item = json!({ "id": "rs_1", "type": "reasoning", "summary": [] });
                events.push(json!({ "type": "response.output_item.added", "output_index": 0, "item": item }));
            }
            FakePart::Thinking(thought) => events.push(json!({
                "type": "response.reasoning_summary_text.delta", "item_id": "rs_1",
                "output_index": 0, "summary_index": 0, "delta": thought,
            })),
            FakePart::Text(piece) => {
                if text.is_empty() {
                    let item = item("in_progress", json!([]));
                    events.push(
                        json!({ "type": "response.output_item.added", "output_index": 1, "item": item }),
                    );
                    events.push(place("response.content_part.added", json!({ "part": output_text("") })));
                }
                text.push_str(piece);
                let more = json!({ "delta": piece, "logprobs": [], "obfuscation": "aBcD" });
                events.push(place("response.output_text.delta", more));
            }
            FakePart::Done => {
                let item = close(&mut events, &text, "completed");
                let response = response("completed", json!({ "output": [item], "usage": usage }));
                events.push(json!({ "type": "response.completed", "response": response }));
            }
            FakePart::Truncated | FakePart::Filtered => {
                let reason =
                    if matches!(part, FakePart::Truncated) { "max_output_tokens" } else { "content_filter" };
                let item = close(&mut events, &text, "incomplete");
                let more =
                    json!({ "output": [item], "usage": usage, "incomplete_details": { "reason": reason } });
                let response = response("incomplete", more);
                events.push(json!({ "type": "response.incomplete", "response": response }));
            }
            FakePart::Refused(why) => {
                events.push(place("response.refusal.delta", json!({ "delta": why })));
                events.push(place("response.refusal.done", json!({ "refusal": why })));
                let item = item("completed", json!([{ "type": "refusal", "refusal": why }]));
                let response = response("completed", json!({ "output": [item], "usage": usage }));
                events.push(json!({ "type": "response.completed", "response": response }));
            }
            FakePart::Overloaded => {
                let error = json!({ "code": "server_error", "message": "Too many are asking." });
                let response = response("failed", json!({ "error": error }));
                events.push(json!({ "type": "response.failed", "response": response }));
            }
        }
    }
    for (number, event) in events.iter_mut().enumerate() {
        event["sequence_number"] = json!(number);
    }
    events
}

fn anthropic(parts: &[FakePart<'_>]) -> Vec<Value> {
    let mut events = vec![
        json!({ "type": "message_start", "message": {
            "id": "msg_1", "type": "message", "role": "assistant", "content": [], "model": MODEL,
            "stop_reason": null, "stop_sequence": null,
            "usage": { "input_tokens": 60, "cache_creation_input_tokens": 10, "cache_read_input_tokens": 30, "output_tokens": 1 },
        } }),
        json!({ "type": "ping" }),
    ];
    let (mut index, mut open) = (0, None);
    let turn_to =
        |events: &mut Vec<Value>, open: &mut Option<&str>, index: &mut u64, kind: Option<&'static str>| {
            if *open == kind {
                return;
            }
            if open.is_some() {
                events.push(json!({ "type": "content_block_stop", "index": *index }));
                *index += 1;
            }
            if let Some(kind) = kind {
                let block = match kind {
                    "thinking" => json!({ "type": kind, "thinking": "", "signature": "" }),
                    _ => json!({ "type": kind, "text": "" }),
                };
                events
                    .push(json!({ "type": "content_block_start", "index": *index, "content_block": block }));
            }
            *open = kind;
        };
    for part in parts {
        let (reason, details) = match *part {
            FakePart::HiddenThinking => {
                turn_to(&mut events, &mut open, &mut index, Some("thinking"));
                continue;
            }
            FakePart::Thinking(thinking) => {
                turn_to(&mut events, &mut open, &mut index, Some("thinking"));
                let delta = json!({ "type": "thinking_delta", "thinking": thinking });
                events.push(json!({ "type": "content_block_delta", "index": index, "delta": delta }));
                let delta = json!({ "type": "signature_delta", "signature": "c2ln" });
                events.push(json!({ "type": "content_block_delta", "index": index, "delta": delta }));
                continue;
            }
            FakePart::Text(text) => {
                turn_to(&mut events, &mut open, &mut index, Some("text"));
                let delta = json!({ "type": "text_delta", "text": text });
                events.push(json!({ "type": "content_block_delta", "index": index, "delta": delta }));
                continue;
            }
            FakePart::Overloaded => {
                let error = json!({ "type": "overloaded_error", "message": "Too many are asking." });
                events.push(json!({ "type": "error", "error": error }));
                continue;
            }
            FakePart::Done => ("end_turn", Value::Null),
            FakePart::Truncated => ("max_tokens", Value::Null),
            FakePart::Filtered => {
                ("refusal", json!({ "type": "refusal", "category": "bio", "explanation": null }))
            }
            FakePart::Refused(why) => {
                ("refusal", json!({ "type": "refusal", "category": null, "explanation": why }))
            }
        };
        turn_to(&mut events, &mut open, &mut index, None);
        let delta = json!({ "stop_reason": reason, "stop_sequence": null, "stop_details": details });
        let usage = json!({ "output_tokens": 50, "output_tokens_details": { "thinking_tokens": 20 } });
        events.push(json!({ "type": "message_delta", "delta": delta, "usage": usage }));
        events.push(json!({ "type": "message_stop" }));
    }
    events
}

fn google(parts: &[FakePart<'_>]) -> Vec<Value> {
    let chunk = |parts: Value, finish: Option<&str>| {
        let mut candidate = json!({ "content": { "parts": parts, "role": "model" }, "index": 0 });
        if let Some(finish) = finish {
            candidate["finishReason"] = json!(finish);
        }
        let usage = json!({
            "promptTokenCount": 100, "candidatesTokenCount": 30, "thoughtsTokenCount": 20, "totalTokenCount": 150,
        });
        json!({ "candidates": [candidate], "usageMetadata": usage, "modelVersion": MODEL, "responseId": "r1" })
    };
    parts
        .iter()
        .map(|part| match *part {
            FakePart::HiddenThinking => chunk(json!([{ "text": "" }]), None),
            FakePart::Thinking(text) => chunk(json!([{ "text": text, "thought": true }]), None),
            FakePart::Text(text) => chunk(json!([{ "text": text }]), None),
            FakePart::Done => chunk(json!([{ "text": "" }]), Some("STOP")),
            FakePart::Truncated => chunk(json!([{ "text": "" }]), Some("MAX_TOKENS")),
            FakePart::Filtered | FakePart::Refused(_) => chunk(json!([]), Some("SAFETY")),
            FakePart::Overloaded => json!({ "error": {
                "code": 503, "message": "Too many are asking.", "status": "UNAVAILABLE",
            } }),
        })
        .collect()
}

fn compatible(parts: &[FakePart<'_>]) -> Vec<Value> {
    let chunk = |choices: Value, usage: Value| {
        json!({
            "id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1_790_000_000,
            "model": MODEL, "choices": choices, "usage": usage,
        })
    };
    let used = || {
        json!({
            "prompt_tokens": 100, "completion_tokens": 50, "total_tokens": 150,
            "completion_tokens_details": { "reasoning_tokens": 20 },
        })
    };
    let choice = |delta: Value, finish: Option<&str>| {
        chunk(json!([{ "index": 0, "delta": delta, "finish_reason": finish }]), Value::Null)
    };
    let mut events = vec![choice(json!({ "role": "assistant", "content": "" }), None)];
    for part in parts {
        let finish = match *part {
            FakePart::HiddenThinking => {
                events.push(chunk(json!([]), used()));
                continue;
            }
            FakePart::Thinking(text) => {
                events.push(choice(json!({ "content": null, "reasoning_content": text }), None));
                continue;
            }
            FakePart::Text(text) => {
                events.push(choice(json!({ "content": text }), None));
                continue;
            }
            FakePart::Overloaded => {
                let error = json!({ "code": 502, "message": "Too many are asking." });
                let mut chunk = choice(json!({ "content": "" }), None);
                chunk["error"] = error;
                events.push(chunk);
                continue;
            }
            FakePart::Refused(why) => {
                events.push(choice(json!({ "refusal": why }), None));
                "stop"
            }
            FakePart::Done => "stop",
            FakePart::Truncated => "length",
            FakePart::Filtered => "content_filter",
        };
        events.push(choice(json!({}), Some(finish)));
        events.push(chunk(json!([]), used()));
    }
    events
}
