use super::*;

struct ProviderErrorCase {
    protocol: FakeProtocol,
    status: u16,
    body: Value,
    kind: GenerateErrorKind,
}

/// Errors of each provider in its own format, with the failure they must become.
fn error_cases() -> Vec<ProviderErrorCase> {
    use GenerateErrorKind::{BadKey, BadRequest, NoCredit, NoSuchModel};
    let openai = |kind: &str, code: &str, message: &str| json!({ "error": { "message": message, "type": kind, "param": null, "code": code } });
    let anthropic = |kind: &str, message: &str| json!({ "type": "error", "error": { "type": kind, "message": message }, "request_id": "req_1" });
    let google = |code: u16, status: &str, message: &str, details: Value| json!({ "error": { "code": code, "message": message, "status": status, "details": details } });
    let router = |code: u16, message: &str| json!({ "error": { "message": message, "code": code } });
    let invalid_key = json!([{ "@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID", "domain": "googleapis.com" }]);
    [
        (FakeProtocol::OpenAi, 401, openai("invalid_request_error", "invalid_api_key", "Incorrect API key provided."), BadKey),
        (FakeProtocol::OpenAi, 404, openai("invalid_request_error", "model_not_found", "The model `some-model-1` does not exist or you do not have access to it."), NoSuchModel),
        (FakeProtocol::OpenAi, 429, openai("insufficient_quota", "insufficient_quota", "You exceeded your current quota, please check your plan and billing details."), NoCredit),
        (FakeProtocol::OpenAi, 400, openai("invalid_request_error", "context_length_exceeded", "Your input is too long."), BadRequest),
        (FakeProtocol::Anthropic, 401, anthropic("authentication_error", "invalid x-api-key"), BadKey),
        (FakeProtocol::Anthropic, 403, anthropic("permission_error", "Your API key does not have permission to use the specified resource."), BadKey),
        (FakeProtocol::Anthropic, 404, anthropic("not_found_error", "model: some-model-1"), NoSuchModel),
        (FakeProtocol::Anthropic, 400, anthropic("invalid_request_error", "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing."), NoCredit),
        (FakeProtocol::Anthropic, 413, anthropic("request_too_large", "Request exceeds the maximum size"), BadRequest),
        (FakeProtocol::Google, 400, google(400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.", invalid_key), BadKey),
        (FakeProtocol::Google, 404, google(404, "NOT_FOUND", "models/some-model-1 is not found for API version v1beta, or is not supported for generateContent.", json!([])), NoSuchModel),
        (FakeProtocol::Google, 400, google(400, "FAILED_PRECONDITION", "Gemini API free tier is not available in your country. Please enable billing on your project.", json!([])), NoCredit),
        (FakeProtocol::Compatible, 401, router(401, "No auth credentials found"), BadKey),
        (FakeProtocol::Compatible, 402, router(402, "This request requires more credits, or fewer max_tokens. You requested up to 64000 tokens, but can only afford 3512."), NoCredit),
        (FakeProtocol::Compatible, 404, json!({ "error": "model 'some-model-1' not found, try pulling it first" }), NoSuchModel),
        (FakeProtocol::Compatible, 400, router(400, "some-model-1 is not a valid model ID"), NoSuchModel),
    ]
    .map(|(protocol, status, body, kind)| ProviderErrorCase { protocol, status, body, kind })
    .into()
}

#[tokio::test]
async fn provider_errors_are_distinguished_reported_and_not_retried() {
    for ProviderErrorCase { protocol, status, body, kind } in error_cases() {
        let provider = FakeProvider::with_responses(protocol, [FakeResponse::json(status, &body)]).await;

        let (result, deltas) = ask(&provider, &question(), patience()).await;

        let failure = result.unwrap_err();
        let provider_message = body["error"]["message"].as_str().or(body["error"].as_str()).unwrap();
        assert_eq!(failure.kind, kind, "{failure:?}");
        assert!(failure.message.contains(provider_message), "{}", failure.message);
        assert!(failure.message.contains(&status.to_string()), "{}", failure.message);
        assert!(failure.kind.is_final(), "{failure:?}");
        assert_eq!(deltas, [""; 0]);
    }
}

/// How each provider reports overload: as a status, and within the stream.
fn busy(protocol: FakeProtocol) -> [FakeResponse; 2] {
    let (status, body) = match protocol {
        FakeProtocol::OpenAi => (
            429,
            json!({ "error": { "message": "Rate limit reached.", "type": "tokens", "code": "rate_limit_exceeded" } }),
        ),
        FakeProtocol::Anthropic => (
            529,
            json!({ "type": "error", "error": { "type": "overloaded_error", "message": "Overloaded" } }),
        ),
        FakeProtocol::Google => (
            503,
            json!({ "error": { "code": 503, "message": "The model is overloaded.", "status": "UNAVAILABLE" } }),
        ),
        FakeProtocol::Compatible => {
            (502, json!({ "error": { "code": 502, "message": "Provider returned error" } }))
        }
    };
    [FakeResponse::json(status, &body), protocol.answer(&[FakePart::Overloaded])]
}

#[tokio::test]
async fn a_busy_provider_is_retried_and_the_wait_is_reported() {
    for protocol in FakeProtocol::ALL {
        let [first, second] = busy(protocol);
        let provider = FakeProvider::with_responses(
            protocol,
            [first, second, protocol.answer(&[FakePart::Text("a"), FakePart::Done])],
        )
        .await;

        let (result, deltas) = ask(&provider, &question(), patience()).await;

        assert_eq!(result.unwrap().text, "a", "{protocol:?}");
        let waits: Vec<_> = deltas.iter().filter(|deltas| deltas.starts_with("waiting")).collect();
        assert!(waits[0].starts_with("waiting 1 0.001"), "{waits:?}");
        assert!(waits[1].starts_with("waiting 2 0.00"), "{waits:?}");
        let requests = provider.requests();
        assert_eq!(requests.len(), 3, "{protocol:?}");
        assert_eq!(requests[0].body, requests[2].body, "{protocol:?}");
    }
}

#[tokio::test]
async fn retries_end_if_a_provider_stays_busy() {
    for protocol in FakeProtocol::ALL {
        let provider =
            FakeProvider::with_handler(protocol, move |_| busy(protocol).into_iter().next().unwrap()).await;

        let (result, _) = ask(&provider, &question(), patience()).await;

        let kind = if protocol == FakeProtocol::OpenAi {
            GenerateErrorKind::RateLimited
        } else {
            GenerateErrorKind::Overloaded
        };
        assert_eq!(result.unwrap_err().kind, kind, "{protocol:?}");
        assert_eq!(provider.requests().len(), 3, "{protocol:?}");
    }
}

/// Thinking costs money, so a retry after it would be paid for twice without the caller's knowledge.
#[tokio::test]
async fn no_retry_follows_once_a_model_has_started_thinking() {
    for protocol in FakeProtocol::ALL {
        for thought in [FakePart::Thinking("hm"), FakePart::HiddenThinking] {
            let provider =
                FakeProvider::with_responses(protocol, [protocol.answer(&[thought, FakePart::Overloaded])])
                    .await;

            let (result, deltas) = ask(&provider, &question(), patience()).await;

            assert_eq!(result.unwrap_err().kind, GenerateErrorKind::Overloaded, "{protocol:?}");
            assert!(deltas.iter().all(|deltas| !deltas.starts_with("waiting")), "{deltas:?}");
        }
    }
}

#[tokio::test]
async fn usage_is_the_sum_of_all_requests() {
    let protocol = FakeProtocol::Anthropic;
    let responses =
        [protocol.answer(&[FakePart::Overloaded]), protocol.answer(&[FakePart::Text("a"), FakePart::Done])];
    let provider = FakeProvider::with_responses(protocol, responses).await;

    let (result, deltas) = ask(&provider, &question(), patience()).await;

    let usage = result.unwrap().usage;
    assert_eq!((usage.input, usage.output), (Some(200), Some(50)));
    assert!(deltas.contains(&"usage Some(200)/Some(50)/Some(20)".to_owned()), "{deltas:?}");
}

#[tokio::test]
async fn every_request_is_reported_when_it_is_sent() {
    let busy = FakeResponse::json(503, &json!({ "error": { "message": "busy" } }));
    let unsure = FakeResponse::json(400, &json!({ "error": { "message": "temperature is not supported" } }));
    let answer = FakeProtocol::OpenAi.answer(&[FakePart::Text("a"), FakePart::Done]);
    let provider = FakeProvider::with_responses(FakeProtocol::OpenAi, [busy, unsure, answer]).await;
    let client = buildoff::generate::provider(&provider.endpoint(), patience(), false).unwrap();
    let warm = ModelOptions { temperature: Some(0.5), ..question().options };
    let mut sent = 0;

    let mut listen = |delta: Delta<'_>| sent += u32::from(matches!(delta, Delta::Sent));
    client.ask(&CompletionRequest { options: warm, ..question() }, &mut listen).await.unwrap();

    assert_eq!(sent, 3);
}

#[tokio::test]
async fn an_error_behind_a_200_status_is_reported() {
    use GenerateErrorKind::{BadRequest, NoCredit};
    let protocol = FakeProtocol::Compatible;
    for (body, provider_message, kind) in [
        (json!({ "detail": "This is not for you." }), "This is not for you.", BadRequest),
        (json!({ "message": "Not on Sundays." }), "Not on Sundays.", BadRequest),
        (
            json!({ "choices": null, "base_resp": { "status_code": 1008, "status_msg": "insufficient balance" } }),
            "insufficient balance",
            NoCredit,
        ),
    ] {
        for response in [FakeResponse::json(200, &body), FakeResponse::stream().send(protocol.frame(&body))] {
            let failure = failure(protocol, response).await;
            assert_eq!(failure.kind, kind, "{failure:?}");
            assert!(failure.message.contains(provider_message), "{failure:?}");
        }
    }
}

#[tokio::test]
async fn retries_wait_as_long_as_the_provider_says() {
    let body = json!({ "error": { "message": "busy" } });
    let google = json!({ "error": { "code": 429, "message": "busy", "status": "RESOURCE_EXHAUSTED", "details": [
        { "@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "0.05s" },
    ] } });
    for (what, response, wait) in [
        ("milliseconds", FakeResponse::json(429, &body).header("retry-after-ms", "50"), Some(0.05)),
        ("seconds", FakeResponse::json(429, &body).header("retry-after", "0.05"), Some(0.05)),
        (
            "a date",
            FakeResponse::json(429, &body).header("retry-after", "Wed, 21 Oct 2015 07:28:00 GMT"),
            Some(0.0),
        ),
        ("in the body", FakeResponse::json(429, &google), Some(0.05)),
        ("nonsense", FakeResponse::json(429, &body).header("retry-after", "soon"), Some(0.0005)),
        ("tomorrow", FakeResponse::json(429, &body).header("retry-after", "86400"), None),
        (
            "some day",
            FakeResponse::json(429, &body).header("retry-after", "Wed, 21 Oct 2065 07:28:00 GMT"),
            None,
        ),
        ("a number beyond all numbers", FakeResponse::json(429, &body).header("retry-after", "1e300"), None),
        ("never", FakeResponse::json(500, &body).header("x-should-retry", "false"), None),
    ] {
        let protocol = FakeProtocol::Google;
        let provider = FakeProvider::with_responses(
            protocol,
            [response, protocol.answer(&[FakePart::Text("a"), FakePart::Done])],
        )
        .await;
        let client = buildoff::generate::provider(&provider.endpoint(), patience(), false).unwrap();
        let mut waited = None;
        let mut listen = |delta: Delta<'_>| {
            if let Delta::Waiting { seconds, .. } = delta {
                waited = Some(seconds);
            }
        };
        let result = client.ask(&question(), &mut listen).await;
        match wait {
            Some(least) => {
                assert_eq!(result.unwrap().text, "a", "{what}");
                let waited = waited.unwrap();
                assert!((least..=least * 1.1 + 0.001).contains(&waited), "{what}: {waited}");
            }
            None => assert!(!result.unwrap_err().kind.is_final() && waited.is_none(), "{what}"),
        }
    }
}
