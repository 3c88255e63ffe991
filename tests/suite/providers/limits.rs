use std::iter;

use axum::body::Bytes;
use futures_util::future::join_all;

use super::*;

/// More bytes than a client may buffer.
const HUGE: usize = 300 << 20;

/// Chunks that add up to more than `HUGE`, made lazily so that the test does not hold them.
fn huge_body(piece: impl Into<Bytes>) -> FakeBodyStep {
    let piece = piece.into();
    FakeBodyStep::SendMany(Box::new(iter::repeat_n(piece.clone(), HUGE / piece.len() + 1)))
}

#[tokio::test]
async fn an_answer_of_300_mb_is_cut_at_the_limit() {
    for protocol in FakeProtocol::ALL {
        let pieces = protocol.stream(&[FakePart::Text("0123456789"), FakePart::Text("0123456789")]);
        let events: Vec<&str> =
            pieces.split_inclusive("\n\n").filter(|event| event.contains("0123")).collect();
        // The sequence number is removed, since the same event is repeated.
        let again = events[0]
            .rsplit_once(",\"sequence_number\"")
            .map_or(events[0].to_owned(), |(event, _)| format!("{event}}}\n\n"));
        let response = FakeResponse::stream()
            .send(protocol.stream(&[FakePart::Text("0123456789")]))
            .then(huge_body(again));
        let provider = FakeProvider::with_responses(protocol, [response]).await;

        let (result, _) = ask(&provider, &question(), patience()).await;

        let failure = result.unwrap_err();
        assert_eq!(failure.kind, GenerateErrorKind::TooLarge, "{protocol:?}: {}", failure.message);
        let kept = patience().max_bytes - 20..=patience().max_bytes;
        assert!(kept.contains(&failure.partial.text.len()), "{protocol:?}: {}", failure.partial.text.len());
        provider.wait_for_disconnect().await;
    }
}

#[tokio::test]
async fn other_responses_of_300_mb_are_cut_at_a_limit() {
    use GenerateErrorKind::{BadAnswer, BadRequest, Overloaded, TooLarge};
    let x = vec![b'x'; 64 << 10];
    for protocol in FakeProtocol::ALL {
        for (what, response, kind) in [
            ("one event", FakeResponse::stream().send("data: "), TooLarge),
            ("one comment", FakeResponse::stream().send(": "), TooLarge),
            ("one document", FakeResponse::new(200, "application/json"), TooLarge),
            ("one page", FakeResponse::new(200, "text/html"), BadAnswer),
            ("one error", FakeResponse::new(503, "text/html"), Overloaded),
            (
                "one complaint",
                FakeResponse::new(400, "application/json").send(r#"{"error":{"message":""#),
                BadAnswer,
            ),
        ] {
            let provider =
                FakeProvider::with_responses(protocol, [response.then(huge_body(x.clone()))]).await;
            let (result, _) = ask(&provider, &question(), RequestLimits { tries: 1, ..patience() }).await;
            let failure = result.unwrap_err();
            assert_eq!(failure.kind, kind, "{protocol:?}, {what}: {}", failure.message);
            assert_ne!(failure.kind, BadRequest);
            assert!(failure.message.len() < 1000, "{protocol:?}, {what}: {}", failure.message.len());
            provider.wait_for_disconnect().await;
        }
    }
}

#[tokio::test]
async fn a_server_that_stops_sending_has_stalled() {
    let hasty = Duration::from_millis(50);
    for protocol in FakeProtocol::ALL {
        // The server sends only the head of a response.
        let response = FakeResponse::stream().then(FakeBodyStep::Stall);
        let failure = failure_within(protocol, response, RequestLimits { idle: hasty, ..patience() }).await;
        assert_eq!(
            (failure.kind, failure.partial.text.as_str()),
            (GenerateErrorKind::Stalled, ""),
            "{protocol:?}"
        );

        let response = FakeResponse::stream()
            .send(protocol.stream(&[FakePart::Text("half a")]))
            .then(FakeBodyStep::Stall);
        let slow = Duration::from_millis(500);
        let failure = failure_within(protocol, response, RequestLimits { idle: slow, ..patience() }).await;
        assert_eq!(
            (failure.kind, failure.partial.text.as_str()),
            (GenerateErrorKind::Stalled, "half a"),
            "{protocol:?}"
        );
        assert!(failure.message.ends_with("nothing came for 0.5 s"), "{}", failure.message);
    }
}

#[tokio::test]
async fn a_server_that_does_not_answer_at_all_has_stalled() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    for protocol in FakeProtocol::ALL {
        let mut endpoint = FakeProvider::with_responses(protocol, []).await.endpoint();
        // The kernel accepts the connection; this process never does.
        endpoint.base_url = format!("http://{}", listener.local_addr().unwrap());
        let hasty = RequestLimits { first_byte: Duration::from_millis(50), ..patience() };
        let provider = provider(&endpoint, hasty, false).unwrap();
        let failure = provider.ask(&question(), &mut |_| ()).await.unwrap_err();
        assert_eq!(failure.kind, GenerateErrorKind::Stalled, "{protocol:?}: {failure:?}");
    }
}

#[tokio::test]
async fn an_endless_stream_ends_at_the_timeout_with_its_partial_text() {
    let in_time = RequestLimits { total: Duration::from_secs(3), ..patience() };
    join_all(FakeProtocol::ALL.map(async |protocol| {
        let noise = if protocol == FakeProtocol::Compatible {
            ": still there\n\n"
        } else {
            "data: {\"type\":\"ping\"}\n\n"
        };
        let response = FakeResponse::stream()
            .send(protocol.stream(&[FakePart::Text("half a")]))
            .then(FakeBodyStep::SendMany(Box::new(iter::repeat(Bytes::from_static(noise.as_bytes())))));
        let provider = FakeProvider::with_responses(protocol, [response]).await;

        let (result, _) = ask(&provider, &question(), in_time).await;

        let failure = result.unwrap_err();
        assert_eq!(
            (failure.kind, failure.partial.text.as_str()),
            (GenerateErrorKind::TimedOut, "half a"),
            "{protocol:?}"
        );
        assert!(failure.message.ends_with("the answer took longer than 3 s"), "{}", failure.message);
        provider.wait_for_disconnect().await;
    }))
    .await;
}

#[tokio::test]
async fn waiting_between_retries_counts_towards_the_total_timeout() {
    let body = json!({ "error": { "message": "busy" } });
    let response = FakeResponse::json(503, &body).header("retry-after", "4");
    let provider = FakeProvider::with_responses(FakeProtocol::OpenAi, [response]).await;
    let short = RequestLimits { total: Duration::from_secs(3), ..patience() };

    let (result, deltas) = ask(&provider, &question(), short).await;

    assert_eq!(result.unwrap_err().kind, GenerateErrorKind::Overloaded);
    assert_eq!(deltas, [""; 0]);
}
