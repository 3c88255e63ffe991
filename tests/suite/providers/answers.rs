use axum::body::Bytes;
use buildoff::generate::Usage;
use tokio::sync::{Notify, mpsc};

use super::*;

fn full_usage(protocol: FakeProtocol) -> Usage {
    let cached = match protocol {
        FakeProtocol::OpenAi => Some(0),
        FakeProtocol::Anthropic => Some(30),
        FakeProtocol::Google | FakeProtocol::Compatible => None,
    };
    Usage { input: Some(100), cached, output: Some(50), reasoning: Some(20), charged: None }
}

#[tokio::test]
async fn an_answer_streams_and_is_complete_at_the_end() {
    for protocol in FakeProtocol::ALL {
        let parts = [
            FakePart::Thinking("hmm, ß"),
            FakePart::Text("{\"boxes\":"),
            FakePart::Text(" [\"ß🏰\"]}\n"),
            FakePart::Done,
        ];
        let provider = FakeProvider::with_responses(protocol, [protocol.answer(&parts)]).await;

        let (result, deltas) = ask(&provider, &question(), patience()).await;

        let answer = result.unwrap();
        assert_eq!(answer.text, "{\"boxes\": [\"ß🏰\"]}\n", "{protocol:?}");
        assert_eq!(answer.usage, full_usage(protocol), "{protocol:?}");
        assert_eq!(answer.notes, [], "{protocol:?}");
        let deltas: Vec<_> = deltas.iter().filter(|deltas| !deltas.starts_with("usage")).collect();
        assert_eq!(deltas, ["thinking 6", "text {\"boxes\":", "text  [\"ß🏰\"]}\n"], "{protocol:?}");
    }
}

#[tokio::test]
async fn a_delta_is_reported_before_the_next_one_is_sent() {
    for protocol in FakeProtocol::ALL {
        let release = Arc::new(Notify::new());
        let whole = protocol.stream(&[FakePart::Text("first "), FakePart::Text("second"), FakePart::Done]);
        let (first, rest) = whole.split_at(whole.find("second").unwrap());
        let response = FakeResponse::stream()
            .send(first.to_owned())
            .then(FakeBodyStep::WaitFor(Arc::clone(&release)))
            .send(rest.to_owned());
        let provider = FakeProvider::with_responses(protocol, [response]).await;

        let mut listen = |delta: Delta<'_>| {
            if matches!(delta, Delta::Text("first ")) {
                release.notify_one();
            }
        };
        let client = buildoff::generate::provider(&provider.endpoint(), patience(), false).unwrap();
        let answer = client.ask(&question(), &mut listen).await.unwrap();

        assert_eq!(answer.text, "first second", "{protocol:?}");
    }
}

#[tokio::test]
async fn a_stream_split_into_single_bytes_is_the_same_answer() {
    for protocol in FakeProtocol::ALL {
        let stream = protocol.stream(&[FakePart::Text("ß🏰"), FakePart::Done]);
        let response =
            stream.bytes().fold(FakeResponse::stream(), |response, byte| response.send(vec![byte]));
        let provider = FakeProvider::with_responses(protocol, [response]).await;

        let (result, _) = ask(&provider, &question(), patience()).await;

        assert_eq!(result.unwrap().text, "ß🏰", "{protocol:?}");
    }
}

#[tokio::test]
async fn comments_pings_and_unknown_events_are_ignored() {
    for (protocol, noise) in [
        (
            FakeProtocol::OpenAi,
            "data: {\"type\":\"keepalive\"}\n\ndata: {\"type\":\"response.brand_new\",\"delta\":7}\n\n",
        ),
        (
            FakeProtocol::Anthropic,
            "event: ping\ndata: {\"type\":\"ping\"}\n\ndata: {\"type\":\"brand_new\"}\n\n",
        ),
        (FakeProtocol::Google, "data: {\"brandNew\":{}}\n\n"),
        (FakeProtocol::Compatible, ": OPENROUTER PROCESSING\n\ndata: {\"brand\":\"new\"}\n\n"),
    ] {
        let whole = protocol.stream(&[FakePart::Text("a"), FakePart::Done]);
        let provider =
            FakeProvider::with_responses(protocol, [FakeResponse::stream().send(format!("{noise}{whole}"))])
                .await;

        let (result, _) = ask(&provider, &question(), patience()).await;

        assert_eq!(result.unwrap().text, "a", "{protocol:?}");
    }
}

/// The answer was complete before the connection broke, so it must not be lost.
#[tokio::test]
async fn a_complete_answer_counts_even_if_the_connection_breaks_after_it() {
    for protocol in [FakeProtocol::Anthropic, FakeProtocol::Google, FakeProtocol::Compatible] {
        let mut events = protocol.events(&[FakePart::Text("a"), FakePart::Done]);
        if protocol == FakeProtocol::Anthropic {
            assert_eq!(events.pop().unwrap()["type"], "message_stop");
        }
        let stream: String = events.iter().map(|event| protocol.frame(event)).collect();
        let provider = FakeProvider::with_responses(
            protocol,
            [FakeResponse::stream().send(stream).then(FakeBodyStep::Disconnect)],
        )
        .await;

        let (result, _) = ask(&provider, &question(), patience()).await;

        assert_eq!(result.unwrap().text, "a", "{protocol:?}");
    }
}

#[tokio::test]
async fn what_follows_a_complete_answer_does_not_spoil_it() {
    for protocol in [FakeProtocol::Anthropic, FakeProtocol::Google, FakeProtocol::Compatible] {
        let mut events = protocol.events(&[FakePart::Text("a"), FakePart::Done]);
        if protocol == FakeProtocol::Anthropic {
            assert_eq!(events.pop().unwrap()["type"], "message_stop");
        }
        let stream: String = events.iter().map(|event| protocol.frame(event)).collect();
        let noise = std::iter::repeat(Bytes::from_static(b": still there\n\n"));
        for (what, step) in [
            ("no JSON", FakeBodyStep::Send("data: oops\n\n".into())),
            ("no text", FakeBodyStep::Send(Bytes::from_static(b"data: \xff\n\n"))),
            (
                "trouble",
                FakeBodyStep::Send("data: {\"type\":\"error\",\"error\":{\"message\":\"no\"}}\n\n".into()),
            ),
            ("no end", FakeBodyStep::SendMany(Box::new(noise))),
        ] {
            let response = FakeResponse::stream().send(stream.clone()).then(step);
            let provider = FakeProvider::with_responses(protocol, [response]).await;
            let in_time = RequestLimits { total: Duration::from_secs(2), ..patience() };

            let (result, _) = ask(&provider, &question(), in_time).await;

            assert_eq!(result.unwrap().text, "a", "{protocol:?}, {what}");
        }
    }
}

#[tokio::test]
async fn dropping_the_request_closes_the_connection() {
    for protocol in FakeProtocol::ALL {
        let response =
            FakeResponse::stream().send(protocol.stream(&[FakePart::Text("a")])).then(FakeBodyStep::Stall);
        let provider = FakeProvider::with_responses(protocol, [response]).await;
        let client = buildoff::generate::provider(&provider.endpoint(), patience(), false).unwrap();
        let (sender, mut deltas) = mpsc::unbounded_channel();
        let task = tokio::spawn(async move {
            let mut listen = |delta: Delta<'_>| {
                if let Delta::Text(_) = delta {
                    sender.send(()).unwrap();
                }
            };
            client.ask(&question(), &mut listen).await
        });
        deltas.recv().await.unwrap();

        task.abort();

        provider.wait_for_disconnect().await;
    }
}

#[tokio::test]
async fn each_way_an_answer_ends_is_distinguished() {
    use GenerateErrorKind::{BadAnswer, Filtered, Refused, Truncated};
    for (protocol, part, kind) in [
        (FakeProtocol::OpenAi, FakePart::Truncated, Truncated),
        (FakeProtocol::Anthropic, FakePart::Truncated, Truncated),
        (FakeProtocol::Google, FakePart::Truncated, Truncated),
        (FakeProtocol::Compatible, FakePart::Truncated, Truncated),
        (FakeProtocol::OpenAi, FakePart::Refused("I would rather not."), Refused),
        (FakeProtocol::Anthropic, FakePart::Refused("I would rather not."), Refused),
        (FakeProtocol::Compatible, FakePart::Refused("I would rather not."), Refused),
        (FakeProtocol::OpenAi, FakePart::Filtered, Filtered),
        (FakeProtocol::Anthropic, FakePart::Filtered, Refused),
        (FakeProtocol::Google, FakePart::Filtered, Filtered),
        (FakeProtocol::Compatible, FakePart::Filtered, Filtered),
    ] {
        let failure = failure(protocol, protocol.answer(&[FakePart::Text("half a"), part])).await;

        assert_eq!(failure.kind, kind, "{protocol:?} {part:?}");
        assert_eq!(failure.partial.text, "half a", "{protocol:?} {part:?}");
        assert_eq!(failure.partial.usage, full_usage(protocol), "{protocol:?} {part:?}");
        if let FakePart::Refused(why) = part {
            assert!(failure.message.contains(why), "{}", failure.message);
        }
    }
    for (reason, kind) in [
        ("RECITATION", Filtered),
        ("PROHIBITED_CONTENT", Filtered),
        ("MALFORMED_RESPONSE", BadAnswer),
        ("OTHER", BadAnswer),
    ] {
        let stream = FakeProtocol::Google
            .stream(&[FakePart::Text("half a"), FakePart::Filtered])
            .replace("SAFETY", reason);
        assert_eq!(
            failure(FakeProtocol::Google, FakeResponse::stream().send(stream)).await.kind,
            kind,
            "{reason}"
        );
    }
}

#[tokio::test]
async fn a_prompt_blocked_by_google_is_reported() {
    let event = json!({ "promptFeedback": { "blockReason": "PROHIBITED_CONTENT" }, "usageMetadata": { "promptTokenCount": 7 } });

    let failure =
        failure(FakeProtocol::Google, FakeResponse::stream().send(FakeProtocol::Google.frame(&event))).await;

    assert_eq!(failure.kind, GenerateErrorKind::Filtered);
    assert_eq!(failure.message, "Google: the provider blocked the prompt: PROHIBITED_CONTENT");
    assert_eq!(failure.partial.usage.input, Some(7));
}

#[tokio::test]
async fn endpoints_that_differ_in_the_details_are_understood() {
    let chunk = |delta: Value| FakeProtocol::Compatible.frame(&json!({ "choices": [{ "delta": delta }] }));
    let finish =
        FakeProtocol::Compatible.frame(&json!({ "choices": [{ "delta": {}, "finish_reason": "stop" }] }));
    for (what, stream) in [
        ("text in parts", chunk(json!({ "content": [{ "type": "text", "text": "a" }] })) + &finish),
        ("no [DONE]", chunk(json!({ "content": "a" })) + &finish),
        ("no finish_reason", chunk(json!({ "content": "a" })) + "data: [DONE]\n\n"),
        (
            "an empty finish_reason",
            (chunk(json!({ "content": "a" })) + &finish).replace("\"a\"}}", "\"a\"},\"finish_reason\":\"\"}"),
        ),
        (
            "reasoning by another name",
            chunk(json!({ "reasoning": "hm" })) + &chunk(json!({ "content": "a" })) + &finish,
        ),
        (
            "the whole once more at the end",
            chunk(json!({ "content": "a" }))
                + &FakeProtocol::Compatible.frame(&json!({ "choices": [{
                    "delta": { "content": "" }, "message": { "content": "a" }, "finish_reason": "stop",
                }] })),
        ),
        (
            "the whole at the end alone",
            chunk(json!({ "content": "" }))
                + &FakeProtocol::Compatible.frame(
                    &json!({ "choices": [{ "message": { "content": "a" }, "finish_reason": "stop" }] }),
                ),
        ),
        ("an event that nobody closed", (chunk(json!({ "content": "a" })) + &finish).trim_end().to_owned()),
    ] {
        let provider =
            FakeProvider::with_responses(FakeProtocol::Compatible, [FakeResponse::stream().send(stream)])
                .await;
        let (result, deltas) = ask(&provider, &question(), patience()).await;
        assert_eq!(result.unwrap().text, "a", "{what}");
        assert_eq!(deltas.contains(&"thinking 2".to_owned()), what.starts_with("reasoning"), "{what}");
    }
}

#[tokio::test]
async fn an_endpoint_that_does_not_stream_is_understood() {
    let completion = json!({
        "choices": [{ "index": 0, "message": { "role": "assistant", "content": "a" }, "finish_reason": "stop" }],
        "usage": { "prompt_tokens": 3, "completion_tokens": 1, "total_tokens": 9 },
    });
    let provider =
        FakeProvider::with_responses(FakeProtocol::Compatible, [FakeResponse::json(200, &completion)]).await;

    let (result, _) = ask(&provider, &question(), patience()).await;

    let answer = result.unwrap();
    assert_eq!(answer.text, "a");
    // This endpoint leaves reasoning tokens out of the completion count; they follow from the total.
    assert_eq!(answer.usage, Usage { input: Some(3), output: Some(6), ..Usage::default() });
}

#[tokio::test]
async fn cached_input_is_read_by_each_providers_name_for_it() {
    let compatible = |usage: Value| {
        let done =
            json!({ "choices": [{ "delta": { "content": "a" }, "finish_reason": "stop" }], "usage": usage });
        FakeProtocol::Compatible.frame(&done)
    };
    let stream = |protocol: FakeProtocol, from: &str, to: &str| {
        let stream = protocol.stream(&[FakePart::Text("a"), FakePart::Done]);
        assert!(stream.contains(from), "{stream}");
        stream.replace(from, to)
    };
    for (protocol, stream) in [
        (FakeProtocol::OpenAi, stream(FakeProtocol::OpenAi, "\"cached_tokens\":0", "\"cached_tokens\":64")),
        (
            FakeProtocol::Anthropic,
            stream(
                FakeProtocol::Anthropic,
                "\"cache_read_input_tokens\":30",
                "\"cache_read_input_tokens\":64",
            ),
        ),
        (
            FakeProtocol::Google,
            stream(
                FakeProtocol::Google,
                "\"promptTokenCount\":100",
                "\"promptTokenCount\":100,\"cachedContentTokenCount\":64",
            ),
        ),
        (
            FakeProtocol::Compatible,
            compatible(json!({ "prompt_tokens": 100, "prompt_tokens_details": { "cached_tokens": 64 } })),
        ),
        (
            FakeProtocol::Compatible,
            compatible(json!({ "prompt_tokens": 100, "prompt_cache_hit_tokens": 64 })),
        ),
        (FakeProtocol::Compatible, compatible(json!({ "prompt_tokens": 100, "cached_tokens": 64 }))),
    ] {
        let provider = FakeProvider::with_responses(protocol, [FakeResponse::stream().send(stream)]).await;
        let (result, _) = ask(&provider, &question(), patience()).await;
        assert_eq!(result.unwrap().usage.cached, Some(64), "{protocol:?}");
    }
}

/// OpenRouter says in dollars what it charges. Other endpoints use the name for other things.
#[tokio::test]
async fn what_an_endpoint_charges_is_read_where_it_is_an_amount() {
    for (usage, charged) in [
        (json!({ "cost": 0.95, "cost_details": { "upstream_inference_cost": 0.9 } }), Some(950_000)),
        (
            json!({ "cost": 0.05, "is_byok": true, "cost_details": { "upstream_inference_cost": 0.95 } }),
            Some(1_000_000),
        ),
        (json!({ "cost": 0.000_000_4, "is_byok": false, "cost_details": null }), Some(0)),
        (json!({ "cost": null }), None),
        (json!({ "cost": { "total_cost": 0.95 } }), None),
        (json!({ "cost": -1 }), None),
        (json!({ "cost": 1e300 }), None),
    ] {
        let chunk =
            json!({ "choices": [{ "delta": { "content": "a" }, "finish_reason": "stop" }], "usage": usage });
        let response = FakeResponse::stream().send(FakeProtocol::Compatible.frame(&chunk));
        let provider = FakeProvider::with_responses(FakeProtocol::Compatible, [response]).await;
        let (result, _) = ask(&provider, &question(), patience()).await;
        assert_eq!(result.unwrap().usage.charged, charged, "{usage}");
    }
}

#[tokio::test]
async fn a_stream_that_is_called_plain_text_is_a_stream() {
    for protocol in FakeProtocol::ALL {
        let stream = protocol.stream(&[FakePart::Text("ß🏰"), FakePart::Done]);
        for begin in ["", "\u{feff}", ": a comment\n\n", "\r\n\r\n"] {
            let whole = format!("{begin}{stream}");
            let plain = || FakeResponse::new(200, "text/plain; charset=utf-8");
            let in_bytes = whole.bytes().fold(plain(), |response, byte| response.send(vec![byte]));
            for response in [plain().send(whole.clone()), in_bytes] {
                let provider = FakeProvider::with_responses(protocol, [response]).await;
                let (result, _) = ask(&provider, &question(), patience()).await;
                assert_eq!(result.unwrap().text, "ß🏰", "{protocol:?} {begin:?}");
            }
        }
    }
}

#[tokio::test]
async fn thoughts_that_minimax_keeps_apart_are_not_part_of_the_answer() {
    let chunk = |delta: Value| FakeProtocol::Compatible.frame(&json!({ "choices": [{ "delta": delta }] }));
    let details = json!([{ "type": "reasoning.text", "id": "r-1", "index": 0, "text": "hmm" }]);
    let stream = chunk(json!({ "role": "", "reasoning_details": details }))
        + &chunk(json!({ "reasoning_content": "hmm", "reasoning_details": details }))
        + &chunk(json!({ "content": "a" }))
        + "data: [DONE]\n\n";
    let provider =
        FakeProvider::with_responses(FakeProtocol::Compatible, [FakeResponse::stream().send(stream)]).await;
    let question = CompletionRequest { model: "MiniMax-M2.7".to_owned(), ..question() };
    let (result, deltas) = ask(&provider, &question, patience()).await;
    assert_eq!(result.unwrap().text, "a");
    assert_eq!(deltas, ["thinking 3", "thinking 3", "text a"]);
    assert_eq!(provider.requests()[0].body["reasoning_split"], true);
}
