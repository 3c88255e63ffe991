//! How the providers speak, as their documentation and their clients have it: what they say, and what they
//! take. `tests/python` holds the events and the requests against those clients.

use buildoff::generate::ProviderKind;
use serde_json::{Value, json};

use super::provider::{KEY, Request, Script};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Voice {
    OpenAi,
    Anthropic,
    Google,
    Compatible,
}

/// A moment of an answer, the same for all.
#[derive(Clone, Copy, Debug)]
pub enum Say<'a> {
    Think(&'a str),
    /// Thinking that shows only in that it has begun, or in what it took.
    Ponder,
    Text(&'a str),
    Done,
    Truncated,
    Filtered,
    /// Google's models do not decline in a way of their own.
    Refused(&'a str),
    /// Trouble in the middle of the stream.
    Overloaded,
}

pub const MODEL: &str = "some-model-1";

impl Voice {
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

    /// A whole answer.
    pub fn says(self, says: &[Say<'_>]) -> Script {
        Script::stream().send(self.stream(says))
    }

    /// The bytes of a stream, which ends as the last of these does.
    pub fn stream(self, says: &[Say<'_>]) -> String {
        let mut stream: String = self.events(says).iter().map(|event| self.frame(event)).collect();
        let is_over =
            !matches!(says.last(), None | Some(Say::Text(_) | Say::Think(_) | Say::Ponder | Say::Overloaded));
        if self == Self::Compatible && is_over {
            stream.push_str("data: [DONE]\n\n");
        }
        stream
    }

    /// One event as it is sent.
    pub fn frame(self, event: &Value) -> String {
        match (self, event["type"].as_str()) {
            (Self::OpenAi | Self::Anthropic, Some(name)) => format!("event: {name}\ndata: {event}\n\n"),
            (Self::Google, _) => format!("data: {event}\r\n\r\n"),
            _ => format!("data: {event}\n\n"),
        }
    }

    /// The events of an answer, numbered where the provider numbers them.
    pub fn events(self, says: &[Say<'_>]) -> Vec<Value> {
        match self {
            Self::OpenAi => openai(says),
            Self::Anthropic => anthropic(says),
            Self::Google => google(says),
            Self::Compatible => compatible(says),
        }
    }

    /// Why the provider would not take a request, if it would not.
    pub fn objection(self, method: &str, request: &Request) -> Option<String> {
        let google = format!("/v1beta/models/{MODEL}:streamGenerateContent?alt=sse");
        let bearer = format!("Bearer {KEY}");
        let (path, headers, fields): (&str, &[(&str, &str)], &str) = match self {
            Self::OpenAi => (
                "/v1/responses",
                &[("authorization", &bearer)],
                "model! input! instructions max_output_tokens reasoning temperature text store! stream!",
            ),
            Self::Anthropic => (
                "/v1/messages",
                &[("x-api-key", KEY), ("anthropic-version", "2023-06-01")],
                "model! messages! max_tokens! system thinking output_config temperature stream!",
            ),
            Self::Google => {
                (&google, &[("x-goog-api-key", KEY)], "contents! systemInstruction generationConfig")
            }
            Self::Compatible => (
                "/api/v1/chat/completions",
                &[("authorization", &bearer)],
                "model! messages! max_tokens max_completion_tokens reasoning_effort temperature \
                 response_format stream! stream_options",
            ),
        };
        if method != "POST" || request.path != path {
            return Some(format!("{method} {}", request.path));
        }
        wrong_headers(headers, request).or_else(|| wrong_fields(fields, &request.body))
    }
}

/// Besides those of this provider, only headers that every request has.
fn wrong_headers(own: &[(&str, &str)], request: &Request) -> Option<String> {
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

fn openai(says: &[Say<'_>]) -> Vec<Value> {
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
    let part = |text: &str| json!({ "type": "output_text", "text": text, "annotations": [] });
    let item = |status: &str, content: Value| json!({ "id": "msg_1", "type": "message", "role": "assistant", "status": status, "content": content });
    let mut events = vec![
        json!({ "type": "response.created", "response": response("in_progress", json!({})) }),
        json!({ "type": "response.in_progress", "response": response("in_progress", json!({})) }),
    ];
    let mut text = String::new();
    let close = |events: &mut Vec<Value>, text: &str, status: &str| {
        if !text.is_empty() {
            events.push(place("response.output_text.done", json!({ "text": text, "logprobs": [] })));
            events.push(place("response.content_part.done", json!({ "part": part(text) })));
        }
        let done = item(status, json!([part(text)]));
        events.push(json!({ "type": "response.output_item.done", "output_index": 1, "item": done }));
        done
    };
    for say in says {
        match *say {
            Say::Ponder => {
                let item = json!({ "id": "rs_1", "type": "reasoning", "summary": [] });
                events.push(json!({ "type": "response.output_item.added", "output_index": 0, "item": item }));
            }
            Say::Think(thought) => events.push(json!({
                "type": "response.reasoning_summary_text.delta", "item_id": "rs_1",
                "output_index": 0, "summary_index": 0, "delta": thought,
            })),
            Say::Text(piece) => {
                if text.is_empty() {
                    let item = item("in_progress", json!([]));
                    events.push(
                        json!({ "type": "response.output_item.added", "output_index": 1, "item": item }),
                    );
                    events.push(place("response.content_part.added", json!({ "part": part("") })));
                }
                text.push_str(piece);
                let more = json!({ "delta": piece, "logprobs": [], "obfuscation": "aBcD" });
                events.push(place("response.output_text.delta", more));
            }
            Say::Done => {
                let item = close(&mut events, &text, "completed");
                let response = response("completed", json!({ "output": [item], "usage": usage }));
                events.push(json!({ "type": "response.completed", "response": response }));
            }
            Say::Truncated | Say::Filtered => {
                let reason =
                    if matches!(say, Say::Truncated) { "max_output_tokens" } else { "content_filter" };
                let item = close(&mut events, &text, "incomplete");
                let more =
                    json!({ "output": [item], "usage": usage, "incomplete_details": { "reason": reason } });
                let response = response("incomplete", more);
                events.push(json!({ "type": "response.incomplete", "response": response }));
            }
            Say::Refused(why) => {
                events.push(place("response.refusal.delta", json!({ "delta": why })));
                events.push(place("response.refusal.done", json!({ "refusal": why })));
                let item = item("completed", json!([{ "type": "refusal", "refusal": why }]));
                let response = response("completed", json!({ "output": [item], "usage": usage }));
                events.push(json!({ "type": "response.completed", "response": response }));
            }
            Say::Overloaded => {
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

fn anthropic(says: &[Say<'_>]) -> Vec<Value> {
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
    for say in says {
        let (reason, details) = match *say {
            Say::Ponder => {
                turn_to(&mut events, &mut open, &mut index, Some("thinking"));
                continue;
            }
            Say::Think(thinking) => {
                turn_to(&mut events, &mut open, &mut index, Some("thinking"));
                let delta = json!({ "type": "thinking_delta", "thinking": thinking });
                events.push(json!({ "type": "content_block_delta", "index": index, "delta": delta }));
                let delta = json!({ "type": "signature_delta", "signature": "c2ln" });
                events.push(json!({ "type": "content_block_delta", "index": index, "delta": delta }));
                continue;
            }
            Say::Text(text) => {
                turn_to(&mut events, &mut open, &mut index, Some("text"));
                let delta = json!({ "type": "text_delta", "text": text });
                events.push(json!({ "type": "content_block_delta", "index": index, "delta": delta }));
                continue;
            }
            Say::Overloaded => {
                let error = json!({ "type": "overloaded_error", "message": "Too many are asking." });
                events.push(json!({ "type": "error", "error": error }));
                continue;
            }
            Say::Done => ("end_turn", Value::Null),
            Say::Truncated => ("max_tokens", Value::Null),
            Say::Filtered => {
                ("refusal", json!({ "type": "refusal", "category": "bio", "explanation": null }))
            }
            Say::Refused(why) => {
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

fn google(says: &[Say<'_>]) -> Vec<Value> {
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
    says.iter()
        .map(|say| match *say {
            Say::Ponder => chunk(json!([{ "text": "" }]), None),
            Say::Think(text) => chunk(json!([{ "text": text, "thought": true }]), None),
            Say::Text(text) => chunk(json!([{ "text": text }]), None),
            Say::Done => chunk(json!([{ "text": "" }]), Some("STOP")),
            Say::Truncated => chunk(json!([{ "text": "" }]), Some("MAX_TOKENS")),
            Say::Filtered | Say::Refused(_) => chunk(json!([]), Some("SAFETY")),
            Say::Overloaded => json!({ "error": {
                "code": 503, "message": "Too many are asking.", "status": "UNAVAILABLE",
            } }),
        })
        .collect()
}

fn compatible(says: &[Say<'_>]) -> Vec<Value> {
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
    for say in says {
        let finish = match *say {
            Say::Ponder => {
                events.push(chunk(json!([]), used()));
                continue;
            }
            Say::Think(text) => {
                events.push(choice(json!({ "content": null, "reasoning_content": text }), None));
                continue;
            }
            Say::Text(text) => {
                events.push(choice(json!({ "content": text }), None));
                continue;
            }
            Say::Overloaded => {
                let error = json!({ "code": 502, "message": "Too many are asking." });
                let mut chunk = choice(json!({ "content": "" }), None);
                chunk["error"] = error;
                events.push(chunk);
                continue;
            }
            Say::Refused(why) => {
                events.push(choice(json!({ "refusal": why }), None));
                "stop"
            }
            Say::Done => "stop",
            Say::Truncated => "length",
            Say::Filtered => "content_filter",
        };
        events.push(choice(json!({}), Some(finish)));
        events.push(chunk(json!([]), used()));
    }
    events
}
