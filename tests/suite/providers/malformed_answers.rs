use std::collections::BTreeMap;

use tokio::net::TcpListener;

use super::*;

/// The stream of an answer up to this text, without the events that end it.
fn partial_stream(protocol: FakeProtocol) -> String {
    protocol.stream(&[FakePart::Text("half a")])
}

#[tokio::test]
async fn every_malformed_answer_is_a_readable_failure_that_keeps_the_partial_text() {
    use GenerateErrorKind::{BadAnswer, BadKey, CutOff, Empty, Overloaded};
    let page = "<!doctype html>\n<title>502 Bad Gateway</title><h1>502</h1>";
    for protocol in FakeProtocol::ALL {
        let partial_stream = partial_stream(protocol);
        let continued =
            |more: &str| FakeResponse::stream().send(partial_stream.clone()).send(more.to_owned());
        let end = protocol.stream(&[FakePart::Done]);
        for (what, response, kind, partial) in [
            ("nothing at all", FakeResponse::stream(), CutOff, ""),
            ("an end without an answer", FakeResponse::stream().send(end), Empty, ""),
            ("only white space", protocol.answer(&[FakePart::Text(" \n"), FakePart::Done]), Empty, " \n"),
            ("closed early", continued(""), CutOff, "half a"),
            ("broken off", continued("").then(FakeBodyStep::Disconnect), CutOff, "half a"),
            ("half an event", continued("data: {\"type\":\"resp"), BadAnswer, "half a"),
            ("an event that is no object", continued("data: [1, 2]\n\n"), BadAnswer, "half a"),
            ("an event that is no JSON", continued("data: oops\n\n"), BadAnswer, "half a"),
            (
                "an event that is deep",
                continued(&format!("data: {{\"x\":{}\n\n", "[".repeat(10_000))),
                BadAnswer,
                "half a",
            ),
            (
                "bytes that are no text",
                continued("").send(&b"data: \"\xff\xfe\"\n\n"[..]),
                BadAnswer,
                "half a",
            ),
            (
                "trouble on the way",
                protocol.answer(&[FakePart::Text("half a"), FakePart::Overloaded]),
                Overloaded,
                "half a",
            ),
            ("a page", FakeResponse::new(200, "text/html").send(page), BadAnswer, ""),
            ("a page by way of error", FakeResponse::new(502, "text/html").send(page), Overloaded, ""),
            ("a page at the wrong address", FakeResponse::new(404, "text/html").send(page), BadAnswer, ""),
            ("a picture", FakeResponse::new(200, "image/png").send(&b"\x89PNG\r\n\x1a\n"[..]), BadAnswer, ""),
            ("plain text", FakeResponse::new(200, "text/plain").send("hello"), BadAnswer, ""),
            (
                "half a JSON",
                FakeResponse::new(200, "application/json").send("{\"choices\": ["),
                BadAnswer,
                "{\"choices\": [",
            ),
            (
                "another JSON",
                FakeResponse::new(200, "application/json").send("{\"hello\": 1}"),
                BadAnswer,
                "{\"hello\": 1}",
            ),
            (
                "a redirect",
                FakeResponse::new(302, "text/html").header("location", "/elsewhere"),
                BadAnswer,
                "",
            ),
            ("no content", FakeResponse::new(204, "text/event-stream"), CutOff, ""),
            (
                "something compressed",
                FakeResponse::stream().header("content-encoding", "gzip").send(&b"\x1f\x8b\x08"[..]),
                BadAnswer,
                "",
            ),
            (
                "a wrong key, compressed",
                FakeResponse::new(401, "application/json")
                    .header("content-encoding", "gzip")
                    .send(&b"\x1f\x8b"[..]),
                BadKey,
                "",
            ),
        ] {
            let failure = failure(protocol, response).await;
            assert_eq!(failure.kind, kind, "{protocol:?}, {what}: {failure:?}");
            assert_eq!(failure.partial.text, partial, "{protocol:?}, {what}");
            assert!(failure.message.len() > 20, "{protocol:?}, {what}: {}", failure.message);
        }
    }
}

/// A wrong URL or a server that does not stream would fail again, so there is no retry.
#[tokio::test]
async fn a_response_that_is_no_answer_is_not_retried() {
    let json = |text: &str| FakeResponse::new(200, "application/json").send(text.to_owned());
    for protocol in FakeProtocol::ALL {
        for (response, is_final) in [
            (FakeResponse::new(200, "text/html").send("<title>Sign in</title>"), true),
            (FakeResponse::new(404, "text/html").send("<title>Not here</title>"), true),
            (FakeResponse::new(302, "text/html").header("location", "/elsewhere"), true),
            (FakeResponse::stream().header("content-encoding", "gzip"), true),
            (json("{\"hello\": 1}"), true),
            (FakeResponse::new(502, "text/html"), false),
            (FakeResponse::stream().send("data: oops\n\n"), false),
            (FakeResponse::stream().send(partial_stream(protocol)), false),
        ] {
            let failure = failure(protocol, response).await;
            assert_eq!(failure.is_final(), is_final, "{protocol:?}: {failure:?}");
        }
    }
}

#[tokio::test]
async fn an_html_response_is_reported_by_its_title() {
    let page = FakeResponse::new(200, "text/html; charset=utf-8").send("<title>Sign in</title>");
    let failure = failure(FakeProtocol::OpenAi, page).await;
    assert_eq!(
        failure.message,
        "OpenAI: the answer is text/html instead of an event stream: a page titled “Sign in”"
    );
}

#[tokio::test]
async fn events_out_of_order_are_detected_if_the_protocol_numbers_them() {
    let events =
        anthropic(&[FakePart::Thinking("a"), FakePart::Text("b"), FakePart::Text("c"), FakePart::Done]);
    let all: Vec<&str> = events.keys().copied().collect();
    for (what, order) in [
        ("two starts", vec!["0 message_start", "0 message_start"]),
        ("no start", all[1..].to_vec()),
        ("a delta before its block", vec!["0 message_start", "3 delta"]),
        ("a block within a block", vec!["0 message_start", "2 block", "2 block"]),
        ("a block skipped", vec!["0 message_start", "6 block"]),
        ("a stop within a block", vec!["0 message_start", "2 block", "a message_stop"]),
        ("a stop without a reason", vec!["0 message_start", "2 block", "5 block_stop", "a message_stop"]),
    ] {
        let stream: String = order.iter().map(|name| events[name].as_str()).collect();
        let failure = failure(FakeProtocol::Anthropic, FakeResponse::stream().send(stream)).await;
        assert_eq!(failure.kind, GenerateErrorKind::BadAnswer, "{what}: {failure:?}");
    }
}

/// The events of an Anthropic message, by number and name.
fn anthropic(parts: &[FakePart<'_>]) -> BTreeMap<&'static str, String> {
    let names = [
        "0 message_start",
        "1 ping",
        "2 block",
        "3 delta",
        "4 signature",
        "5 block_stop",
        "6 block",
        "7 delta",
        "8 delta",
        "9 block_stop",
        "9z message_delta",
        "a message_stop",
    ];
    let events = FakeProtocol::Anthropic.events(parts);
    assert_eq!(events.len(), names.len());
    names.into_iter().zip(events.iter().map(|event| FakeProtocol::Anthropic.frame(event))).collect()
}

#[tokio::test]
async fn repeated_or_missing_events_do_no_harm_if_the_last_event_has_the_whole_text() {
    let events = FakeProtocol::OpenAi.events(&[
        FakePart::Text("a"),
        FakePart::Text("b"),
        FakePart::Text("c"),
        FakePart::Done,
    ]);
    let at = |kind: &str| events.iter().position(|event| event["type"] == kind).unwrap();
    let (first, done) = (at("response.output_text.delta"), at("response.output_text.done"));
    let all: Vec<usize> = (0..events.len()).collect();
    let without = |gone: &[usize]| all.iter().copied().filter(|at| !gone.contains(at)).collect::<Vec<_>>();
    let twice: Vec<usize> = all.iter().flat_map(|at| [*at, *at]).collect();
    let mut swapped = all.clone();
    swapped.swap(first, first + 1);
    for (what, order, expected) in [
        ("everything twice", twice, Some("abc")),
        ("one missing", without(&[first + 1]), Some("abc")),
        ("two swapped", swapped, Some("abc")),
        ("one missing, and the whole text only in the last event", without(&[first + 1, done]), Some("abc")),
        ("one missing, and the whole text never sent", without(&[first + 1, done]), None),
        ("the last one missing, and the whole text never sent", without(&[first + 2, done]), None),
    ] {
        let mut stream: String = order.iter().map(|at| FakeProtocol::OpenAi.frame(&events[*at])).collect();
        if expected.is_none() {
            stream = stream.replace("\"text\":\"abc\"", "\"text\":\"\"");
        }
        let provider =
            FakeProvider::with_responses(FakeProtocol::OpenAi, [FakeResponse::stream().send(stream)]).await;
        let (result, _) = ask(&provider, &question(), patience()).await;
        match expected {
            Some(text) => assert_eq!(result.unwrap().text, text, "{what}"),
            None => assert_eq!(result.unwrap_err().kind, GenerateErrorKind::BadAnswer, "{what}"),
        }
    }
}

#[tokio::test]
async fn a_server_that_hangs_up_at_once_or_is_not_there_cannot_be_reached() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let rude = tokio::spawn(async move {
        loop {
            drop(listener.accept().await.unwrap());
        }
    });
    for protocol in FakeProtocol::ALL {
        let mut endpoint = FakeProvider::with_responses(protocol, []).await.endpoint();
        for base_url in [format!("http://{address}"), "http://127.0.0.1:1".to_owned()] {
            endpoint.base_url = base_url;
            let provider = provider(&endpoint, patience(), false).unwrap();
            let mut waits = 0;
            let mut listen = |delta: Delta<'_>| waits += u32::from(matches!(delta, Delta::Waiting { .. }));
            let result = provider.ask(&question(), &mut listen).await;
            let failure = result.unwrap_err();
            assert_eq!(failure.kind, GenerateErrorKind::Unreachable, "{failure:?}");
            assert_eq!(waits, 2, "{failure:?}");
        }
    }
    rude.abort();
}
