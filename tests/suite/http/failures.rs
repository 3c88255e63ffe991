//! Errors: JSON for programs, a page for browsers.

use buildoff::web::ErrorCode;

use super::*;

#[derive(Deserialize)]
struct TestSizeQuery {
    #[allow(dead_code)]
    size: u8,
}

/// Handlers that fail in every possible way, under `/api` and as pages.
fn routes() -> Router<App> {
    let slow = get(|| tokio::time::sleep(Duration::from_secs(20)));
    let slow = slow.layer(layers::deadline(Duration::from_millis(50)));
    let routes = Router::new()
        .route("/panic", get(panics))
        .route("/database", get(|| async { Err::<(), _>(Error::from(sqlx::Error::WorkerCrashed)) }))
        .route("/crowded", get(|| async { Err::<(), _>(Error::from(sqlx::Error::PoolTimedOut)) }))
        .route("/bare", get(|| async { StatusCode::INTERNAL_SERVER_ERROR }))
        .route("/slow", slow)
        .route("/query", get(|_: Query<TestSizeQuery>| async {}))
        .route("/bytes", post(|body: Bytes| async move { body.len().to_string() }))
        .route("/json", post(|body: Json<TestSizeQuery>| async move { drop(body) }));
    Router::new().merge(routes.clone()).nest("/api", routes)
}

async fn json_error(response: Response) -> (u16, Value) {
    let status = response.status().as_u16();
    let kind = header(response.headers(), "content-type");
    assert_eq!(kind, "application/json", "an error under /api is JSON");
    assert_eq!(header(response.headers(), "cache-control"), "no-store");
    (status, response.json().await.unwrap())
}

#[tokio::test]
async fn api_errors_have_a_message_and_a_code() {
    let server = TestServer::start_with_routes(routes()).await;
    let internal = json!({ "error": "Something broke on our side. It has been logged.", "code": "internal" });
    let cases = [
        ("/api/panic", 500, internal.clone()),
        ("/api/database", 500, internal.clone()),
        ("/api/bare", 500, internal),
        (
            "/api/crowded",
            503,
            json!({ "error": "The server is busy. Try again in a moment.", "code": "busy" }),
        ),
        (
            "/api/slow",
            503,
            json!({ "error": "The request took too long, so it was stopped. Try again.", "code": "timed_out" }),
        ),
        ("/api/nothing", 404, json!({ "error": "This page does not exist.", "code": "not_found" })),
        ("/api/query?size=x", 400, json!({ "error": "size: not a whole number.", "code": "bad_request" })),
    ];
    for (path, status, body) in cases {
        let response = server.get(path).send().await.unwrap();
        assert_eq!(json_error(response).await, (status, body), "{path}");
    }
}

#[tokio::test]
async fn rejected_bodies_have_the_same_error_format() {
    let server = TestServer::start_with_routes(routes()).await;

    let too_much = server.post("/api/bytes").body(vec![0; 64 * 1024 + 1]).send().await.unwrap();
    let too_large =
        json!({ "error": "The request is larger than this address accepts.", "code": "too_large" });
    assert_eq!(json_error(too_much).await, (413, too_large));
    let enough = server.post("/api/bytes").body(vec![0; 64 * 1024]).send().await.unwrap();
    assert_eq!(enough.text().await.unwrap(), "65536");

    let untyped = server.post("/api/json").body("{}").send().await.unwrap();
    let (status, body) = json_error(untyped).await;
    assert_eq!((status, &body["code"]), (415, &json!("unsupported_media_type")), "{body}");

    for (text, expected) in [("{", 400), ("{}", 422)] {
        let wrong = server.post("/api/json").header("content-type", "application/json").body(text);
        let (status, body) = json_error(wrong.send().await.unwrap()).await;
        assert_eq!((status, &body["code"]), (expected, &json!("bad_request")), "{text}: {body}");
        assert!(body["error"].as_str().unwrap().len() > 20, "{body} must explain the error");
    }
}

#[tokio::test]
async fn a_wrong_method_gets_an_allow_header() {
    let server = TestServer::start_with_routes(routes()).await;
    let response = server.get("/api/bytes").send().await.unwrap();

    assert_eq!(header(response.headers(), "allow"), "POST");
    let (status, body) = json_error(response).await;
    assert_eq!((status, &body["code"]), (405, &json!("method_not_allowed")));
}

#[tokio::test]
async fn browsers_get_an_error_page() {
    let server = TestServer::start_with_routes(routes()).await;
    let cases = [
        ("/panic", 500, "Something went wrong"),
        ("/database", 500, "Something went wrong"),
        ("/crowded", 503, "Too busy right now"),
        ("/slow", 503, "This took too long"),
        ("/nothing", 404, "Page not found"),
        ("/api", 404, "Page not found"),
        ("/apiary", 404, "Page not found"),
        ("/bytes", 405, "This page cannot be opened"),
        ("/query", 400, "Request not understood"),
    ];
    for (path, status, title) in cases {
        let response = server.get(path).send().await.unwrap();
        assert_eq!(response.status(), status, "{path}");
        assert_eq!(header(response.headers(), "content-type"), "text/html; charset=utf-8", "{path}");
        assert_eq!(header(response.headers(), "cache-control"), "no-store", "{path}");
        let html = response.text().await.unwrap();
        assert!(html.contains(&format!(">{title}</h1>")), "{path} gave {html}");
    }
    let too_much = server.post("/bytes").body(vec![0; 100_000]).send().await.unwrap();
    assert_eq!(too_much.status(), 413);
    assert!(too_much.text().await.unwrap().contains(">Too large</h1>"));
}

#[tokio::test]
async fn internal_errors_are_logged_with_the_request_id_and_not_shown() {
    let log = TestProcessLog::capture();
    let server = TestServer::start_with_routes(routes()).await;
    for (path, cause) in [("/panic", "the crane fell over"), ("/database", "worker")] {
        let response = server.get(path).send().await.unwrap();
        let id = header(response.headers(), "x-request-id");
        let html = response.text().await.unwrap();

        assert!(html.contains(&id), "{path} must show the request id");
        assert!(!html.contains(cause), "{path} shows its cause: {html}");
        let lines = log.lines_with(&id);
        let error = lines.iter().find(|line| line["level"] == "ERROR");
        let error = error.unwrap_or_else(|| panic!("no error was logged for {path}: {lines:?}"));
        assert!(error["fields"]["message"].as_str().unwrap().contains(cause), "{error}");
    }
}

#[tokio::test]
async fn text_from_the_visitor_is_escaped_on_an_error_page() {
    let server = TestServer::start_with_routes(routes()).await;
    let html = server.get("/query?size=%3Cscript%3E").send().await.unwrap().text().await.unwrap();
    assert!(!html.contains("<script>") && !html.contains("&#60;script"), "{html}");
    assert!(
        html.contains("The request could not be understood."),
        "a parser's message must not be on a page"
    );
}

#[tokio::test]
async fn an_error_pages_title_and_links_depend_on_the_code() {
    let fails =
        |code: ErrorCode| get(move || async move { Err::<(), _>(Error::new(code, "Said by the handler.")) });
    let server = TestServer::start_with_routes(
        Router::new()
            .route("/sandbox/runs/7/delete", fails(ErrorCode::NotYours))
            .route("/models/nobody", fails(ErrorCode::NotFound))
            .route("/matchup", fails(ErrorCode::AllVoted)),
    )
    .await;
    for (path, title, way_out) in [
        ("/sandbox/runs/7/delete", "This run belongs to another browser", "\"/sandbox\">Go to the sandbox"),
        ("/models/nobody", "Page not found", "\"/leaderboard\">See the leaderboard"),
        ("/matchup", "You have seen every pair", "\"/leaderboard\">See the leaderboard"),
        ("/panic/and/nothing?x=y", "Page not found", "\"/\">Go to the arena"),
    ] {
        let html = server.get(path).send().await.unwrap().text().await.unwrap();
        assert!(html.contains(&format!(">{title}</h1>")), "{path}: {html}");
        assert!(html.contains(&format!("<title>{title} · Buildoff</title>")), "{path}: {html}");
        assert!(html.contains(&format!("class=\"button\" href={way_out}</a>")), "{path}: {html}");
    }
    let html = server.get("/matchup").send().await.unwrap().text().await.unwrap();
    assert!(html.contains("Said by the handler."), "{html}");
}

#[tokio::test]
async fn a_full_connection_pool_answers_with_retry_after() {
    let server = TestServer::start_with_routes(routes()).await;
    let response = server.get("/api/crowded").send().await.unwrap();
    assert_eq!(header(response.headers(), "retry-after"), "2");
}
