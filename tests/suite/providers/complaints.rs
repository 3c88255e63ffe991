use super::*;

struct Complaint {
    voice: Voice,
    status: u16,
    body: Value,
    kind: FailureKind,
}

/// What each provider says, as it says it.
fn complaints() -> Vec<Complaint> {
    use FailureKind::{BadKey, BadRequest, NoCredit, NoSuchModel};
    let openai = |kind: &str, code: &str, message: &str| json!({ "error": { "message": message, "type": kind, "param": null, "code": code } });
    let anthropic = |kind: &str, message: &str| json!({ "type": "error", "error": { "type": kind, "message": message }, "request_id": "req_1" });
    let google = |code: u16, status: &str, message: &str, details: Value| json!({ "error": { "code": code, "message": message, "status": status, "details": details } });
    let router = |code: u16, message: &str| json!({ "error": { "message": message, "code": code } });
    let invalid_key = json!([{ "@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID", "domain": "googleapis.com" }]);
    [
        (Voice::OpenAi, 401, openai("invalid_request_error", "invalid_api_key", "Incorrect API key provided."), BadKey),
        (Voice::OpenAi, 404, openai("invalid_request_error", "model_not_found", "The model `some-model-1` does not exist or you do not have access to it."), NoSuchModel),
        (Voice::OpenAi, 429, openai("insufficient_quota", "insufficient_quota", "You exceeded your current quota, please check your plan and billing details."), NoCredit),
        (Voice::OpenAi, 400, openai("invalid_request_error", "context_length_exceeded", "Your input is too long."), BadRequest),
        (Voice::Anthropic, 401, anthropic("authentication_error", "invalid x-api-key"), BadKey),
        (Voice::Anthropic, 403, anthropic("permission_error", "Your API key does not have permission to use the specified resource."), BadKey),
        (Voice::Anthropic, 404, anthropic("not_found_error", "model: some-model-1"), NoSuchModel),
        (Voice::Anthropic, 400, anthropic("invalid_request_error", "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing."), NoCredit),
        (Voice::Anthropic, 413, anthropic("request_too_large", "Request exceeds the maximum size"), BadRequest),
        (Voice::Google, 400, google(400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.", invalid_key), BadKey),
        (Voice::Google, 404, google(404, "NOT_FOUND", "models/some-model-1 is not found for API version v1beta, or is not supported for generateContent.", json!([])), NoSuchModel),
        (Voice::Google, 400, google(400, "FAILED_PRECONDITION", "Gemini API free tier is not available in your country. Please enable billing on your project.", json!([])), NoCredit),
        (Voice::Compatible, 401, router(401, "No auth credentials found"), BadKey),
        (Voice::Compatible, 402, router(402, "This request requires more credits, or fewer max_tokens. You requested up to 64000 tokens, but can only afford 3512."), NoCredit),
        (Voice::Compatible, 404, json!({ "error": "model 'some-model-1' not found, try pulling it first" }), NoSuchModel),
        (Voice::Compatible, 400, router(400, "some-model-1 is not a valid model ID"), NoSuchModel),
    ]
    .map(|(voice, status, body, kind)| Complaint { voice, status, body, kind })
    .into()
}

#[tokio::test]
async fn what_a_provider_complains_of_is_told_apart_told_on_and_not_asked_twice() {
    for Complaint { voice, status, body, kind } in complaints() {
        let provider = Provider::with(voice, [Script::error(status, &body)]).await;

        let (result, told) = ask(&provider, &question(), patience()).await;

        let failure = result.unwrap_err();
        let said = body["error"]["message"].as_str().or(body["error"].as_str()).unwrap();
        assert_eq!(failure.kind, kind, "{failure:?}");
        assert!(failure.message.contains(said), "{}", failure.message);
        assert!(failure.message.contains(&status.to_string()), "{}", failure.message);
        assert!(failure.kind.is_final(), "{failure:?}");
        assert_eq!(told, [""; 0]);
    }
}

/// Busy in the words of each of them, as a status and in the stream.
fn busy(voice: Voice) -> [Script; 2] {
    let (status, body) = match voice {
        Voice::OpenAi => (
            429,
            json!({ "error": { "message": "Rate limit reached.", "type": "tokens", "code": "rate_limit_exceeded" } }),
        ),
        Voice::Anthropic => (
            529,
            json!({ "type": "error", "error": { "type": "overloaded_error", "message": "Overloaded" } }),
        ),
        Voice::Google => (
            503,
            json!({ "error": { "code": 503, "message": "The model is overloaded.", "status": "UNAVAILABLE" } }),
        ),
        Voice::Compatible => (502, json!({ "error": { "code": 502, "message": "Provider returned error" } })),
    };
    [Script::error(status, &body), voice.says(&[Say::Overloaded])]
}

#[tokio::test]
async fn a_busy_provider_is_asked_again_and_the_wait_is_told() {
    for voice in Voice::ALL {
        let [first, second] = busy(voice);
        let provider = Provider::with(voice, [first, second, voice.says(&[Say::Text("a"), Say::Done])]).await;

        let (result, told) = ask(&provider, &question(), patience()).await;

        assert_eq!(result.unwrap().text, "a", "{voice:?}");
        let waits: Vec<_> = told.iter().filter(|told| told.starts_with("waiting")).collect();
        assert!(waits[0].starts_with("waiting 1 0.001"), "{waits:?}");
        assert!(waits[1].starts_with("waiting 2 0.00"), "{waits:?}");
        let requests = provider.requests();
        assert_eq!(requests.len(), 3, "{voice:?}");
        assert_eq!(requests[0].body, requests[2].body, "{voice:?}");
    }
}

#[tokio::test]
async fn a_provider_that_stays_busy_is_given_up() {
    for voice in Voice::ALL {
        let provider = Provider::improvising(voice, move |_| busy(voice).into_iter().next().unwrap()).await;

        let (result, _) = ask(&provider, &question(), patience()).await;

        let kind = if voice == Voice::OpenAi { FailureKind::RateLimited } else { FailureKind::Overloaded };
        assert_eq!(result.unwrap_err().kind, kind, "{voice:?}");
        assert_eq!(provider.requests().len(), 3, "{voice:?}");
    }
}

/// What was paid for is not asked for again behind the asker's back.
#[tokio::test]
async fn once_a_model_has_thought_nothing_is_asked_again() {
    for voice in Voice::ALL {
        for thought in [Say::Think("hm"), Say::Ponder] {
            let provider = Provider::with(voice, [voice.says(&[thought, Say::Overloaded])]).await;

            let (result, told) = ask(&provider, &question(), patience()).await;

            assert_eq!(result.unwrap_err().kind, FailureKind::Overloaded, "{voice:?}");
            assert!(told.iter().all(|told| !told.starts_with("waiting")), "{told:?}");
        }
    }
}

#[tokio::test]
async fn what_each_request_took_adds_up() {
    let voice = Voice::Anthropic;
    let scripts = [voice.says(&[Say::Overloaded]), voice.says(&[Say::Text("a"), Say::Done])];
    let provider = Provider::with(voice, scripts).await;

    let (result, told) = ask(&provider, &question(), patience()).await;

    let usage = result.unwrap().usage;
    assert_eq!((usage.input, usage.output), (Some(200), Some(50)));
    assert!(told.contains(&"usage Some(200)/Some(50)/Some(20)".to_owned()), "{told:?}");
}

#[tokio::test]
async fn every_request_is_told_as_it_goes_out() {
    let busy = Script::error(503, &json!({ "error": { "message": "busy" } }));
    let unsure = Script::error(400, &json!({ "error": { "message": "temperature is not supported" } }));
    let answer = Voice::OpenAi.says(&[Say::Text("a"), Say::Done]);
    let provider = Provider::with(Voice::OpenAi, [busy, unsure, answer]).await;
    let asked = buildoff::generate::provider(&provider.endpoint(), patience(), false).unwrap();
    let warm = Options { effort: None, temperature: Some(0.5) };
    let mut sent = 0;

    let mut listen = |delta: Delta<'_>| sent += u32::from(matches!(delta, Delta::Sent));
    asked.ask(&Question { options: warm, ..question() }, &mut listen).await.unwrap();

    assert_eq!(sent, 3);
}

#[tokio::test]
async fn what_is_wrong_is_told_even_where_the_status_says_that_all_is_well() {
    use FailureKind::{BadRequest, NoCredit};
    let voice = Voice::Compatible;
    for (body, said, kind) in [
        (json!({ "detail": "This is not for you." }), "This is not for you.", BadRequest),
        (json!({ "message": "Not on Sundays." }), "Not on Sundays.", BadRequest),
        (
            json!({ "choices": null, "base_resp": { "status_code": 1008, "status_msg": "insufficient balance" } }),
            "insufficient balance",
            NoCredit,
        ),
    ] {
        for script in [Script::error(200, &body), Script::stream().send(voice.frame(&body))] {
            let failure = failure(voice, script).await;
            assert_eq!(failure.kind, kind, "{failure:?}");
            assert!(failure.message.contains(said), "{failure:?}");
        }
    }
}

#[tokio::test]
async fn when_to_come_back_is_up_to_the_provider() {
    let body = json!({ "error": { "message": "busy" } });
    let google = json!({ "error": { "code": 429, "message": "busy", "status": "RESOURCE_EXHAUSTED", "details": [
        { "@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "0.05s" },
    ] } });
    for (what, script, wait) in [
        ("milliseconds", Script::error(429, &body).header("retry-after-ms", "50"), Some(0.05)),
        ("seconds", Script::error(429, &body).header("retry-after", "0.05"), Some(0.05)),
        (
            "a date",
            Script::error(429, &body).header("retry-after", "Wed, 21 Oct 2015 07:28:00 GMT"),
            Some(0.0),
        ),
        ("in the body", Script::error(429, &google), Some(0.05)),
        ("nonsense", Script::error(429, &body).header("retry-after", "soon"), Some(0.0005)),
        ("tomorrow", Script::error(429, &body).header("retry-after", "86400"), None),
        ("some day", Script::error(429, &body).header("retry-after", "Wed, 21 Oct 2065 07:28:00 GMT"), None),
        ("a number beyond all numbers", Script::error(429, &body).header("retry-after", "1e300"), None),
        ("never", Script::error(500, &body).header("x-should-retry", "false"), None),
    ] {
        let voice = Voice::Google;
        let provider = Provider::with(voice, [script, voice.says(&[Say::Text("a"), Say::Done])]).await;
        let asked = buildoff::generate::provider(&provider.endpoint(), patience(), false).unwrap();
        let mut waited = None;
        let mut listen = |delta: Delta<'_>| {
            if let Delta::Waiting { seconds, .. } = delta {
                waited = Some(seconds);
            }
        };
        let result = asked.ask(&question(), &mut listen).await;
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
