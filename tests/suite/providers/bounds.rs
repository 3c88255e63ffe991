use std::iter;

use axum::body::Bytes;
use futures_util::future::join_all;

use super::*;

/// What no machine should be made to hold.
const HUGE: usize = 300 << 20;

/// Pieces that are more than `HUGE` together, made as they are taken.
fn huge(piece: impl Into<Bytes>) -> Beat {
    let piece = piece.into();
    Beat::Flood(Box::new(iter::repeat_n(piece.clone(), HUGE / piece.len() + 1)))
}

#[tokio::test]
async fn an_answer_of_300_mb_is_left_at_the_bound() {
    for voice in Voice::ALL {
        let pieces = voice.stream(&[Say::Text("0123456789"), Say::Text("0123456789")]);
        let events: Vec<&str> =
            pieces.split_inclusive("\n\n").filter(|event| event.contains("0123")).collect();
        // The same event again and again, without the number that would give it away.
        let again = events[0]
            .rsplit_once(",\"sequence_number\"")
            .map_or(events[0].to_owned(), |(event, _)| format!("{event}}}\n\n"));
        let script = Script::stream().send(voice.stream(&[Say::Text("0123456789")])).beat(huge(again));
        let provider = Provider::with(voice, [script]).await;

        let (result, _) = ask(&provider, &question(), patience()).await;

        let failure = result.unwrap_err();
        assert_eq!(failure.kind, FailureKind::TooLarge, "{voice:?}: {}", failure.message);
        let kept = patience().max_bytes - 20..=patience().max_bytes;
        assert!(kept.contains(&failure.partial.len()), "{voice:?}: {}", failure.partial.len());
        provider.hung_up().await;
    }
}

#[tokio::test]
async fn whatever_else_is_of_300_mb_is_left_at_a_bound() {
    use FailureKind::{BadAnswer, BadRequest, Overloaded, TooLarge};
    let x = vec![b'x'; 64 << 10];
    for voice in Voice::ALL {
        for (what, script, kind) in [
            ("one event", Script::stream().send("data: "), TooLarge),
            ("one comment", Script::stream().send(": "), TooLarge),
            ("one document", Script::new(200, "application/json"), TooLarge),
            ("one page", Script::new(200, "text/html"), BadAnswer),
            ("one error", Script::new(503, "text/html"), Overloaded),
            (
                "one complaint",
                Script::new(400, "application/json").send(r#"{"error":{"message":""#),
                BadAnswer,
            ),
        ] {
            let provider = Provider::with(voice, [script.beat(huge(x.clone()))]).await;
            let (result, _) = ask(&provider, &question(), Patience { tries: 1, ..patience() }).await;
            let failure = result.unwrap_err();
            assert_eq!(failure.kind, kind, "{voice:?}, {what}: {}", failure.message);
            assert_ne!(failure.kind, BadRequest);
            assert!(failure.message.len() < 1000, "{voice:?}, {what}: {}", failure.message.len());
            provider.hung_up().await;
        }
    }
}

#[tokio::test]
async fn a_server_that_says_nothing_more_has_stalled() {
    let hasty = Duration::from_millis(50);
    for voice in Voice::ALL {
        // The head of an answer, and no more.
        let script = Script::stream().beat(Beat::Stall);
        let failure = failure_within(voice, script, Patience { idle: hasty, ..patience() }).await;
        assert_eq!((failure.kind, failure.partial.as_str()), (FailureKind::Stalled, ""), "{voice:?}");

        let script = Script::stream().send(voice.stream(&[Say::Text("half a")])).beat(Beat::Stall);
        let slow = Duration::from_millis(500);
        let failure = failure_within(voice, script, Patience { idle: slow, ..patience() }).await;
        assert_eq!((failure.kind, failure.partial.as_str()), (FailureKind::Stalled, "half a"), "{voice:?}");
        assert!(failure.message.ends_with("nothing came for 0.5 s"), "{}", failure.message);
    }
}

#[tokio::test]
async fn a_server_that_does_not_answer_at_all_has_stalled() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    for voice in Voice::ALL {
        let mut endpoint = Provider::with(voice, []).await.endpoint();
        // The kernel takes the connection; nobody takes it from the kernel.
        endpoint.base_url = format!("http://{}", listener.local_addr().unwrap());
        let hasty = Patience { first_byte: Duration::from_millis(50), ..patience() };
        let provider = provider(&endpoint, hasty, false).unwrap();
        let failure = provider.ask(&question(), &mut |_| ()).await.unwrap_err();
        assert_eq!(failure.kind, FailureKind::Stalled, "{voice:?}: {failure:?}");
    }
}

#[tokio::test]
async fn a_stream_that_never_ends_is_left_in_time_with_what_it_said() {
    let in_time = Patience { total: Duration::from_secs(3), ..patience() };
    join_all(Voice::ALL.map(async |voice| {
        let noise =
            if voice == Voice::Compatible { ": still there\n\n" } else { "data: {\"type\":\"ping\"}\n\n" };
        let script = Script::stream()
            .send(voice.stream(&[Say::Text("half a")]))
            .beat(Beat::Flood(Box::new(iter::repeat(Bytes::from_static(noise.as_bytes())))));
        let provider = Provider::with(voice, [script]).await;

        let (result, _) = ask(&provider, &question(), in_time).await;

        let failure = result.unwrap_err();
        assert_eq!((failure.kind, failure.partial.as_str()), (FailureKind::TimedOut, "half a"), "{voice:?}");
        assert!(failure.message.ends_with("the answer took longer than 3 s"), "{}", failure.message);
        provider.hung_up().await;
    }))
    .await;
}

#[tokio::test]
async fn waiting_counts_into_the_whole_time() {
    let body = json!({ "error": { "message": "busy" } });
    let script = Script::error(503, &body).header("retry-after", "4");
    let provider = Provider::with(Voice::OpenAi, [script]).await;
    let short = Patience { total: Duration::from_secs(3), ..patience() };

    let (result, told) = ask(&provider, &question(), short).await;

    assert_eq!(result.unwrap_err().kind, FailureKind::Overloaded);
    assert_eq!(told, [""; 0]);
}
