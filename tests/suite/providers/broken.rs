use std::collections::BTreeMap;

use tokio::net::TcpListener;

use super::*;

/// The stream of an answer up to and with this text, which is not its end.
fn begun(voice: Voice) -> String {
    voice.stream(&[Say::Text("half a")])
}

#[tokio::test]
async fn an_answer_of_every_broken_kind_is_a_legible_failure_that_keeps_what_came() {
    use FailureKind::{BadAnswer, BadKey, CutOff, Empty, Overloaded};
    let page = "<!doctype html>\n<title>502 Bad Gateway</title><h1>502</h1>";
    for voice in Voice::ALL {
        let begun = begun(voice);
        let then = |more: &str| Script::stream().send(begun.clone()).send(more.to_owned());
        let end = voice.stream(&[Say::Done]);
        for (what, script, kind, partial) in [
            ("nothing at all", Script::stream(), CutOff, ""),
            ("an end without an answer", Script::stream().send(end), Empty, ""),
            ("only white space", voice.says(&[Say::Text(" \n"), Say::Done]), Empty, " \n"),
            ("closed early", then(""), CutOff, "half a"),
            ("broken off", then("").beat(Beat::Break), CutOff, "half a"),
            ("half an event", then("data: {\"type\":\"resp"), BadAnswer, "half a"),
            ("an event that is no object", then("data: [1, 2]\n\n"), BadAnswer, "half a"),
            ("an event that is no JSON", then("data: oops\n\n"), BadAnswer, "half a"),
            (
                "an event that is deep",
                then(&format!("data: {{\"x\":{}\n\n", "[".repeat(10_000))),
                BadAnswer,
                "half a",
            ),
            ("bytes that are no text", then("").send(&b"data: \"\xff\xfe\"\n\n"[..]), BadAnswer, "half a"),
            ("trouble on the way", voice.says(&[Say::Text("half a"), Say::Overloaded]), Overloaded, "half a"),
            ("a page", Script::new(200, "text/html").send(page), BadAnswer, ""),
            ("a page by way of error", Script::new(502, "text/html").send(page), Overloaded, ""),
            ("a page at the wrong address", Script::new(404, "text/html").send(page), BadAnswer, ""),
            ("a picture", Script::new(200, "image/png").send(&b"\x89PNG\r\n\x1a\n"[..]), BadAnswer, ""),
            ("plain text", Script::new(200, "text/plain").send("hello"), BadAnswer, ""),
            (
                "half a JSON",
                Script::new(200, "application/json").send("{\"choices\": ["),
                BadAnswer,
                "{\"choices\": [",
            ),
            (
                "another JSON",
                Script::new(200, "application/json").send("{\"hello\": 1}"),
                BadAnswer,
                "{\"hello\": 1}",
            ),
            ("a redirect", Script::new(302, "text/html").header("location", "/elsewhere"), BadAnswer, ""),
            ("no content", Script::new(204, "text/event-stream"), CutOff, ""),
            (
                "something compressed",
                Script::stream().header("content-encoding", "gzip").send(&b"\x1f\x8b\x08"[..]),
                BadAnswer,
                "",
            ),
            (
                "a wrong key, compressed",
                Script::new(401, "application/json")
                    .header("content-encoding", "gzip")
                    .send(&b"\x1f\x8b"[..]),
                BadKey,
                "",
            ),
        ] {
            let failure = failure(voice, script).await;
            assert_eq!(failure.kind, kind, "{voice:?}, {what}: {failure:?}");
            assert_eq!(failure.partial, partial, "{voice:?}, {what}");
            assert!(failure.message.len() > 20, "{voice:?}, {what}: {}", failure.message);
        }
    }
}

/// A wrong address stays wrong, and who does not stream will not do so the next time.
#[tokio::test]
async fn what_is_nothing_like_an_answer_need_not_be_asked_for_again() {
    let json = |text: &str| Script::new(200, "application/json").send(text.to_owned());
    for voice in Voice::ALL {
        for (script, is_final) in [
            (Script::new(200, "text/html").send("<title>Sign in</title>"), true),
            (Script::new(404, "text/html").send("<title>Not here</title>"), true),
            (Script::new(302, "text/html").header("location", "/elsewhere"), true),
            (Script::stream().header("content-encoding", "gzip"), true),
            (json("{\"hello\": 1}"), true),
            (Script::new(502, "text/html"), false),
            (Script::stream().send("data: oops\n\n"), false),
            (Script::stream().send(begun(voice)), false),
        ] {
            let failure = failure(voice, script).await;
            assert_eq!(failure.is_final, is_final, "{voice:?}: {failure:?}");
        }
    }
}

#[tokio::test]
async fn a_page_is_named_by_its_title() {
    let page = Script::new(200, "text/html; charset=utf-8").send("<title>Sign in</title>");
    let failure = failure(Voice::OpenAi, page).await;
    assert_eq!(
        failure.message,
        "OpenAI: the answer is text/html and no event stream: a page titled “Sign in”"
    );
}

#[tokio::test]
async fn events_out_of_order_are_noticed_where_the_protocol_has_an_order() {
    let events = anthropic(&[Say::Think("a"), Say::Text("b"), Say::Text("c"), Say::Done]);
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
        let failure = failure(Voice::Anthropic, Script::stream().send(stream)).await;
        assert_eq!(failure.kind, FailureKind::BadAnswer, "{what}: {failure:?}");
    }
}

/// The events of a message, by number and name.
fn anthropic(says: &[Say<'_>]) -> BTreeMap<&'static str, String> {
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
    let events = Voice::Anthropic.events(says);
    assert_eq!(events.len(), names.len());
    names.into_iter().zip(events.iter().map(|event| Voice::Anthropic.frame(event))).collect()
}

#[tokio::test]
async fn numbered_events_that_come_twice_or_not_at_all_do_no_harm_if_the_end_tells_the_whole() {
    let events = Voice::OpenAi.events(&[Say::Text("a"), Say::Text("b"), Say::Text("c"), Say::Done]);
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
        ("one missing, and told whole only at the very end", without(&[first + 1, done]), Some("abc")),
        ("one missing, and never told whole", without(&[first + 1, done]), None),
        ("the last one missing, and never told whole", without(&[first + 2, done]), None),
    ] {
        let mut stream: String = order.iter().map(|at| Voice::OpenAi.frame(&events[*at])).collect();
        if expected.is_none() {
            stream = stream.replace("\"text\":\"abc\"", "\"text\":\"\"");
        }
        let provider = Provider::with(Voice::OpenAi, [Script::stream().send(stream)]).await;
        let (result, _) = ask(&provider, &question(), patience()).await;
        match expected {
            Some(text) => assert_eq!(result.unwrap().text, text, "{what}"),
            None => assert_eq!(result.unwrap_err().kind, FailureKind::BadAnswer, "{what}"),
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
    for voice in Voice::ALL {
        let mut endpoint = Provider::with(voice, []).await.endpoint();
        for base_url in [format!("http://{address}"), "http://127.0.0.1:1".to_owned()] {
            endpoint.base_url = base_url;
            let provider = provider(&endpoint, patience(), false).unwrap();
            let mut waits = 0;
            let mut listen = |delta: Delta<'_>| waits += u32::from(matches!(delta, Delta::Waiting { .. }));
            let result = provider.ask(&question(), &mut listen).await;
            let failure = result.unwrap_err();
            assert_eq!(failure.kind, FailureKind::Unreachable, "{failure:?}");
            assert_eq!(waits, 2, "{failure:?}");
        }
    }
    rude.abort();
}
