use buildoff::generate::{Endpoint, EndpointError, ProviderKind, Secret};
use buildoff::outbound::OutboundRefused;
use tracing::subscriber::set_default;

use super::*;
use crate::support::TestLogBuffer;
use crate::support::fake_provider::API_KEY;

/// Responses that repeat the key they were sent.
fn responses_with_key(protocol: FakeProtocol) -> Vec<FakeResponse> {
    let masked = format!("{}****6789", &API_KEY[..8]);
    vec![
        FakeResponse::json(
            401,
            &json!({ "error": { "message": format!("Incorrect API key provided: {API_KEY}."), "code": API_KEY } }),
        ),
        FakeResponse::json(
            401,
            &json!({ "error": { "message": format!("Incorrect API key provided: {masked}.") } }),
        ),
        FakeResponse::new(403, "text/plain").send(format!("you sent authorization: Bearer {API_KEY}")),
        FakeResponse::new(500, "text/html").send(format!("<title>{API_KEY}</title>")),
        FakeResponse::new(200, "text/html").send(format!("<p>{API_KEY}")),
        FakeResponse::json(200, &json!({ "error": { "message": API_KEY } })),
        FakeResponse::new(302, "text/html").header("location", &format!("/?key={API_KEY}")),
        FakeResponse::stream().send(format!("data: {API_KEY}\n\n")),
        FakeResponse::stream()
            .send(format!("{}data: {API_KEY}\n\n", protocol.stream(&[FakePart::Text("half a")]))),
        FakeResponse::json(413, &json!({ "error": { "message": format!("{}{API_KEY}", "x".repeat(790)) } })),
        // The key straddles the point where logged text is cut, and the end of the error body.
        FakeResponse::stream().send(format!(
            ": {}{API_KEY}{}\n\n",
            "x".repeat(9_000),
            "x".repeat((16 << 10) - 20)
        )),
        FakeResponse::new(400, "text/plain").send(format!("{}{API_KEY}", "x".repeat((64 << 10) - 12))),
    ]
}

#[tokio::test]
async fn a_key_is_in_no_error_and_no_log_line_however_it_is_repeated() {
    let log = TestLogBuffer::default();
    let subscriber = tracing_subscriber::fmt().with_max_level(tracing::Level::TRACE).with_writer(log.clone());
    let guard = set_default(subscriber.finish());
    let mut output = String::new();
    for protocol in FakeProtocol::ALL {
        for response in responses_with_key(protocol) {
            let provider = FakeProvider::with_responses(protocol, [response]).await;
            let once = RequestLimits { tries: 1, ..patience() };
            let client = buildoff::generate::provider(&provider.endpoint(), once, true).unwrap();
            let mut listen = |delta: Delta<'_>| output.push_str(&format!("{delta:?}\n"));
            let failure = client.ask(&question(), &mut listen).await.unwrap_err();
            output.push_str(&format!("{failure} {failure:?} {:?}\n", provider.endpoint()));
        }
    }
    drop(guard);

    let log = log.text();
    assert!(
        log.contains("a response could not be used") && log.contains("half a"),
        "nothing was logged: {log}"
    );
    for (what, text) in [("an error", output), ("the log", log)] {
        let leak = text.lines().find(|line| line.contains(&API_KEY[3..]) || line.contains(&API_KEY[..12]));
        assert_eq!(leak, None, "in {what}");
        // Half of the key must not leak either.
        assert!(!text.contains(&API_KEY[API_KEY.len() - 16..]), "the end of the key is in {what}");
    }
}

#[tokio::test]
async fn raw_provider_answers_are_logged_only_if_configured() {
    for log_raw in [false, true] {
        let log = TestLogBuffer::default();
        let guard = set_default(tracing_subscriber::fmt().with_writer(log.clone()).finish());
        let provider = FakeProvider::with_responses(
            FakeProtocol::OpenAi,
            [FakeResponse::stream().send("data: peculiar\n\n")],
        )
        .await;

        let client = buildoff::generate::provider(&provider.endpoint(), patience(), log_raw).unwrap();
        client.ask(&question(), &mut |_| ()).await.unwrap_err();

        drop(guard);
        assert_eq!(log.text().contains("peculiar"), log_raw);
    }
}

#[tokio::test]
async fn a_rejected_answer_is_logged_abridged_and_without_the_key() {
    for log_raw in [false, true] {
        let log = TestLogBuffer::default();
        let guard = set_default(tracing_subscriber::fmt().with_writer(log.clone()).finish());
        let provider = FakeProvider::with_responses(FakeProtocol::OpenAi, []).await;
        let client = buildoff::generate::provider(&provider.endpoint(), patience(), log_raw).unwrap();

        let answer = format!("peculiar {API_KEY} {}{API_KEY}{} half", "x".repeat(8150), "y".repeat(60_000));
        client.log_rejected(&answer, &format!("it says {API_KEY}"));

        drop(guard);
        let log = log.text();
        assert_eq!((log.contains("peculiar"), log.contains(" half")), (log_raw, log_raw));
        assert!(log.len() < 20_000 && !log.contains(&API_KEY[..12]), "{log}");
    }
}

#[test]
fn an_unusable_url_or_key_is_refused_without_repeating_the_key() {
    let refuse = |base_url: &str, key: &str| {
        let endpoint = Endpoint {
            provider: ProviderKind::Compatible,
            base_url: base_url.to_owned(),
            key: Some(Secret::new(key)),
            pinned: None,
        };
        provider(&endpoint, patience(), false).err()
    };
    for address in
        ["", "nowhere", "ftp://example.com", "file:///etc/passwd", "https://example.com/?a=b", "data:x"]
    {
        let refused = refuse(address, "key");
        assert!(matches!(refused, Some(EndpointError::Address(OutboundRefused::BadAddress))), "{address}");
    }
    let error = refuse("https://me:hidden@example.com", "key").unwrap();
    assert!(!error.to_string().contains("hidden") && !format!("{error:?}").contains("hidden"), "{error:?}");
    let error = refuse("https://example.com", "hid\nden").unwrap();
    assert!(matches!(error, EndpointError::BadKey) && !error.to_string().contains("hid"), "{error}");
    assert!(refuse("https://example.com/v1/", " key \n").is_none());
}
