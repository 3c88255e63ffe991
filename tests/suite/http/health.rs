//! Health probes and metrics.

use super::*;

#[tokio::test]
async fn without_a_database_the_process_is_healthy_but_not_ready() {
    let server = TestServer::start().await;
    let started = Instant::now();

    let healthz = server.get("/healthz").send().await.unwrap();
    assert_eq!(healthz.status(), 200);
    assert_eq!(header(healthz.headers(), "cache-control"), "no-store");
    assert_eq!(healthz.json::<Value>().await.unwrap(), json!({ "status": "ok" }));

    let readyz = server.get("/readyz").send().await.unwrap();
    assert_eq!(readyz.status(), 503);
    assert_eq!(header(readyz.headers(), "cache-control"), "no-store");
    assert_eq!(readyz.json::<Value>().await.unwrap()["code"], "not_ready");
    assert!(started.elapsed() < Duration::from_secs(5), "a probe must answer soon");
}

#[tokio::test]
async fn metrics_work_without_a_database() {
    let server = TestServer::start().await;
    server.get("/nothing/like/it").send().await.unwrap();
    server.get("/api/schema?palette=oak").send().await.unwrap();
    let brew = Method::from_bytes(b"BREW").unwrap();
    server.request(brew, "/healthz").send().await.unwrap();

    let metrics = server.get("/metrics").send().await.unwrap();

    assert_eq!(metrics.status(), 200);
    assert_eq!(header(metrics.headers(), "cache-control"), "no-store");
    assert_eq!(header(metrics.headers(), "content-type"), "text/plain; charset=utf-8");
    let text = metrics.text().await.unwrap();
    for line in [
        r#"buildoff_http_answers_total{method="GET",route="/api/schema",status="400",code="bad_request"} 1"#,
        r#"buildoff_http_answers_total{method="GET",route="",status="404",code="not_found"} 1"#,
        r#"buildoff_http_answers_total{method="other",route="/healthz",status="405",code="method_not_allowed"} 1"#,
        "buildoff_http_in_flight 1",
        "buildoff_database_up 0",
        r#"buildoff_heavy_work{state="running"} 0"#,
        "# EOF",
    ] {
        assert!(text.lines().any(|found| found == line), "{line} is not in\n{text}");
    }
    assert!(!text.contains("buildoff_votes"), "unknown values must be left out, not reported as zero");
    assert!(!text.contains("BREW") && !text.contains("like/it"), "clients must not be able to create labels");
}

#[tokio::test]
async fn open_metrics_is_served_if_the_accept_header_asks_for_it() {
    let server = TestServer::start().await;
    let prometheus =
        "application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.2,*/*;q=0.1";
    let metrics = server.get("/metrics").header("accept", prometheus).send().await.unwrap();
    let kind = header(metrics.headers(), "content-type");
    assert_eq!(kind, "application/openmetrics-text; version=1.0.0; charset=utf-8");
}

#[tokio::test]
async fn metrics_with_an_address_of_their_own_are_nowhere_else() {
    let db = TestDb::new().await;
    let server = TestServerProcess::start(&db, &[("METRICS_BIND", "127.0.0.1:0")]);
    let metrics_url = server.metrics_url.as_deref().unwrap();
    let status = async |base_url: &str, path: &str| {
        let answer = reqwest::get(format!("{base_url}{path}")).await.unwrap();
        (answer.status().as_u16(), answer.text().await.unwrap())
    };
    let (code, text) = status(&server.url, "/metrics").await;
    assert_eq!((code, text.contains("not_found"), text.contains("buildoff_")), (404, true, false), "{text}");
    let (code, text) = status(metrics_url, "/metrics").await;
    assert_eq!(code, 200);
    let counted =
        r#"buildoff_http_answers_total{method="GET",route="/metrics",status="404",code="not_found"} 1"#;
    for line in [counted, "buildoff_database_up 1", "buildoff_database_writable 1"] {
        assert!(text.lines().any(|found| found == line), "{line} is not in\n{text}");
    }
    for path in ["/", "/healthz", "/api/leaderboard", "/admin"] {
        assert_eq!(
            status(metrics_url, path).await.0,
            404,
            "{path} must not be at the address of the metrics"
        );
    }
}
