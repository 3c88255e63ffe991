use axum::body::Bytes;
use buildoff::generate::Usage;
use tokio::sync::{Notify, mpsc};

use super::*;

const WHOLE: Usage = Usage { input: Some(100), output: Some(50), reasoning: Some(20) };

#[tokio::test]
async fn an_answer_streams_in_and_is_whole_at_the_end() {
    for voice in Voice::ALL {
        let says = [Say::Think("hmm, ß"), Say::Text("{\"boxes\":"), Say::Text(" [\"ß🏰\"]}\n"), Say::Done];
        let provider = Provider::with(voice, [voice.says(&says)]).await;

        let (result, told) = ask(&provider, &question(), patience()).await;

        let answer = result.unwrap();
        assert_eq!(answer.text, "{\"boxes\": [\"ß🏰\"]}\n", "{voice:?}");
        assert_eq!(answer.usage, WHOLE, "{voice:?}");
        assert_eq!(answer.notes, [], "{voice:?}");
        let told: Vec<_> = told.iter().filter(|told| !told.starts_with("usage")).collect();
        assert_eq!(told, ["thinking 6", "text {\"boxes\":", "text  [\"ß🏰\"]}\n"], "{voice:?}");
    }
}

#[tokio::test]
async fn a_piece_is_told_before_the_next_one_is_sent() {
    for voice in Voice::ALL {
        let leave = Arc::new(Notify::new());
        let whole = voice.stream(&[Say::Text("first "), Say::Text("second"), Say::Done]);
        let (first, rest) = whole.split_at(whole.find("second").unwrap());
        let script = Script::stream()
            .send(first.to_owned())
            .beat(Beat::Hold(Arc::clone(&leave)))
            .send(rest.to_owned());
        let provider = Provider::with(voice, [script]).await;

        let mut listen = |delta: Delta<'_>| {
            if matches!(delta, Delta::Text("first ")) {
                leave.notify_one();
            }
        };
        let asked = buildoff::generate::provider(&provider.endpoint(), patience(), false).unwrap();
        let answer = asked.ask(&question(), &mut listen).await.unwrap();

        assert_eq!(answer.text, "first second", "{voice:?}");
    }
}

#[tokio::test]
async fn a_stream_cut_into_single_bytes_says_the_same() {
    for voice in Voice::ALL {
        let stream = voice.stream(&[Say::Text("ß🏰"), Say::Done]);
        let script = stream.bytes().fold(Script::stream(), |script, byte| script.send(vec![byte]));
        let provider = Provider::with(voice, [script]).await;

        let (result, _) = ask(&provider, &question(), patience()).await;

        assert_eq!(result.unwrap().text, "ß🏰", "{voice:?}");
    }
}

#[tokio::test]
async fn comments_pings_and_events_nobody_has_heard_of_are_passed_over() {
    for (voice, noise) in [
        (
            Voice::OpenAi,
            "data: {\"type\":\"keepalive\"}\n\ndata: {\"type\":\"response.brand_new\",\"delta\":7}\n\n",
        ),
        (Voice::Anthropic, "event: ping\ndata: {\"type\":\"ping\"}\n\ndata: {\"type\":\"brand_new\"}\n\n"),
        (Voice::Google, "data: {\"brandNew\":{}}\n\n"),
        (Voice::Compatible, ": OPENROUTER PROCESSING\n\ndata: {\"brand\":\"new\"}\n\n"),
    ] {
        let whole = voice.stream(&[Say::Text("a"), Say::Done]);
        let provider = Provider::with(voice, [Script::stream().send(format!("{noise}{whole}"))]).await;

        let (result, _) = ask(&provider, &question(), patience()).await;

        assert_eq!(result.unwrap().text, "a", "{voice:?}");
    }
}

/// All that counts has come; that the rest does not is no reason to lose it.
#[tokio::test]
async fn a_complete_answer_counts_even_if_the_connection_breaks_after_it() {
    for voice in [Voice::Anthropic, Voice::Google, Voice::Compatible] {
        let mut events = voice.events(&[Say::Text("a"), Say::Done]);
        if voice == Voice::Anthropic {
            assert_eq!(events.pop().unwrap()["type"], "message_stop");
        }
        let stream: String = events.iter().map(|event| voice.frame(event)).collect();
        let provider = Provider::with(voice, [Script::stream().send(stream).beat(Beat::Break)]).await;

        let (result, _) = ask(&provider, &question(), patience()).await;

        assert_eq!(result.unwrap().text, "a", "{voice:?}");
    }
}

#[tokio::test]
async fn what_follows_a_complete_answer_does_not_spoil_it() {
    for voice in [Voice::Anthropic, Voice::Google, Voice::Compatible] {
        let mut events = voice.events(&[Say::Text("a"), Say::Done]);
        if voice == Voice::Anthropic {
            assert_eq!(events.pop().unwrap()["type"], "message_stop");
        }
        let stream: String = events.iter().map(|event| voice.frame(event)).collect();
        let noise = std::iter::repeat(Bytes::from_static(b": still there\n\n"));
        for (what, beat) in [
            ("no JSON", Beat::Send("data: oops\n\n".into())),
            ("no text", Beat::Send(Bytes::from_static(b"data: \xff\n\n"))),
            ("trouble", Beat::Send("data: {\"type\":\"error\",\"error\":{\"message\":\"no\"}}\n\n".into())),
            ("no end", Beat::Flood(Box::new(noise))),
        ] {
            let script = Script::stream().send(stream.clone()).beat(beat);
            let provider = Provider::with(voice, [script]).await;
            let in_time = Patience { total: Duration::from_secs(2), ..patience() };

            let (result, _) = ask(&provider, &question(), in_time).await;

            assert_eq!(result.unwrap().text, "a", "{voice:?}, {what}");
        }
    }
}

#[tokio::test]
async fn leaving_closes_the_connection() {
    for voice in Voice::ALL {
        let script = Script::stream().send(voice.stream(&[Say::Text("a")])).beat(Beat::Stall);
        let provider = Provider::with(voice, [script]).await;
        let asked = buildoff::generate::provider(&provider.endpoint(), patience(), false).unwrap();
        let (tell, mut told) = mpsc::unbounded_channel();
        let task = tokio::spawn(async move {
            let mut listen = |delta: Delta<'_>| {
                if let Delta::Text(_) = delta {
                    tell.send(()).unwrap();
                }
            };
            asked.ask(&question(), &mut listen).await
        });
        told.recv().await.unwrap();

        task.abort();

        provider.hung_up().await;
    }
}

#[tokio::test]
async fn how_an_answer_ended_is_told_apart() {
    use FailureKind::{BadAnswer, Filtered, Refused, Truncated};
    for (voice, say, kind) in [
        (Voice::OpenAi, Say::Truncated, Truncated),
        (Voice::Anthropic, Say::Truncated, Truncated),
        (Voice::Google, Say::Truncated, Truncated),
        (Voice::Compatible, Say::Truncated, Truncated),
        (Voice::OpenAi, Say::Refused("I would rather not."), Refused),
        (Voice::Anthropic, Say::Refused("I would rather not."), Refused),
        (Voice::Compatible, Say::Refused("I would rather not."), Refused),
        (Voice::OpenAi, Say::Filtered, Filtered),
        (Voice::Anthropic, Say::Filtered, Refused),
        (Voice::Google, Say::Filtered, Filtered),
        (Voice::Compatible, Say::Filtered, Filtered),
    ] {
        let failure = failure(voice, voice.says(&[Say::Text("half a"), say])).await;

        assert_eq!(failure.kind, kind, "{voice:?} {say:?}");
        assert_eq!(failure.partial, "half a", "{voice:?} {say:?}");
        assert_eq!(failure.usage, WHOLE, "{voice:?} {say:?}");
        if let Say::Refused(why) = say {
            assert!(failure.message.contains(why), "{}", failure.message);
        }
    }
    for (reason, kind) in [
        ("RECITATION", Filtered),
        ("PROHIBITED_CONTENT", Filtered),
        ("MALFORMED_RESPONSE", BadAnswer),
        ("OTHER", BadAnswer),
    ] {
        let stream = Voice::Google.stream(&[Say::Text("half a"), Say::Filtered]).replace("SAFETY", reason);
        assert_eq!(failure(Voice::Google, Script::stream().send(stream)).await.kind, kind, "{reason}");
    }
}

#[tokio::test]
async fn a_question_that_google_keeps_from_its_model_says_so() {
    let event = json!({ "promptFeedback": { "blockReason": "PROHIBITED_CONTENT" }, "usageMetadata": { "promptTokenCount": 7 } });

    let failure = failure(Voice::Google, Script::stream().send(Voice::Google.frame(&event))).await;

    assert_eq!(failure.kind, FailureKind::Filtered);
    assert_eq!(failure.message, "Google: the question was withheld from the model: PROHIBITED_CONTENT");
    assert_eq!(failure.usage.input, Some(7));
}

#[tokio::test]
async fn endpoints_that_differ_in_the_details_are_understood() {
    let chunk = |delta: Value| Voice::Compatible.frame(&json!({ "choices": [{ "delta": delta }] }));
    let finish = Voice::Compatible.frame(&json!({ "choices": [{ "delta": {}, "finish_reason": "stop" }] }));
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
                + &Voice::Compatible.frame(&json!({ "choices": [{
                    "delta": { "content": "" }, "message": { "content": "a" }, "finish_reason": "stop",
                }] })),
        ),
        (
            "the whole at the end alone",
            chunk(json!({ "content": "" }))
                + &Voice::Compatible.frame(
                    &json!({ "choices": [{ "message": { "content": "a" }, "finish_reason": "stop" }] }),
                ),
        ),
        ("an event that nobody closed", (chunk(json!({ "content": "a" })) + &finish).trim_end().to_owned()),
    ] {
        let provider = Provider::with(Voice::Compatible, [Script::stream().send(stream)]).await;
        let (result, told) = ask(&provider, &question(), patience()).await;
        assert_eq!(result.unwrap().text, "a", "{what}");
        assert_eq!(told.contains(&"thinking 2".to_owned()), what.starts_with("reasoning"), "{what}");
    }
}

#[tokio::test]
async fn an_endpoint_that_does_not_stream_is_understood() {
    let completion = json!({
        "choices": [{ "index": 0, "message": { "role": "assistant", "content": "a" }, "finish_reason": "stop" }],
        "usage": { "prompt_tokens": 3, "completion_tokens": 1, "total_tokens": 9 },
    });
    let provider = Provider::with(Voice::Compatible, [Script::error(200, &completion)]).await;

    let (result, _) = ask(&provider, &question(), patience()).await;

    let answer = result.unwrap();
    assert_eq!(answer.text, "a");
    // The total tells of reasoning that the completion leaves out.
    assert_eq!(answer.usage, Usage { input: Some(3), output: Some(6), reasoning: None });
}
