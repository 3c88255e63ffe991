//! The headers of every response, and its line in the log.

use super::*;

#[tokio::test]
async fn every_response_has_the_security_headers_including_errors() {
    let panics = Router::new().route("/panic", get(panics));
    let server = TestServer::start_with_routes(buildoff::web::routes().merge(panics)).await;
    for path in ["/", "/healthz", "/readyz", "/nothing", "/api/nothing", "/panic", "/robots.txt", "/format/"]
    {
        let response = server.get(path).send().await.unwrap();
        let headers = response.headers();
        let policy = header(headers, "content-security-policy");
        for rule in ["default-src 'none'", "script-src 'self'", "frame-ancestors 'none'", "base-uri 'none'"] {
            assert!(policy.contains(rule), "{path} lacks {rule} in {policy:?}");
        }
        assert!(!policy.contains("unsafe"), "{path}: {policy}");
        assert_eq!(header(headers, "x-content-type-options"), "nosniff", "{path}");
        assert_eq!(header(headers, "referrer-policy"), "strict-origin-when-cross-origin", "{path}");
        assert_eq!(header(headers, "cross-origin-opener-policy"), "same-origin", "{path}");
        assert_eq!(header(headers, "cross-origin-resource-policy"), "same-origin", "{path}");
        assert!(header(headers, "permissions-policy").contains("camera=()"), "{path}");
        assert_ne!(header(headers, "cache-control"), "", "{path} has no Cache-Control header");
    }
}

#[tokio::test]
async fn browsers_are_held_to_tls_exactly_where_the_public_address_has_https() {
    for (variables, expected) in [
        (&[][..], ""),
        (&[("PUBLIC_URL", "http://buildoff.example")], ""),
        (&[("PUBLIC_URL", "https://buildoff.example")], "max-age=31536000"),
        (&[("PUBLIC_URL", "HTTPS://buildoff.example")], "max-age=31536000"),
    ] {
        let server = TestServer::start_with_env(TestDb::new().await.pool.clone(), variables).await;
        for path in ["/healthz", "/nothing", "/about"] {
            let response = server.get(path).send().await.unwrap();
            assert_eq!(
                header(response.headers(), "strict-transport-security"),
                expected,
                "{variables:?} {path}"
            );
        }
    }
}

#[tokio::test]
async fn a_proxy_that_is_not_trusted_is_logged_once() {
    let db = TestDb::seeded().await;
    for (variables, forwarded, logged) in [
        (&[][..], true, 1),
        (&[("TRUSTED_PROXIES", "10.0.0.0/8")], true, 1),
        (&[("TRUSTED_PROXIES", "127.0.0.0/8")], true, 0),
        (&[], false, 0),
    ] {
        let mut process = TestServerProcess::start(&db, variables);
        let client = reqwest::Client::new();
        for n in 0..5 {
            let mut request = client.get(format!("{}/api/arena/matchup", process.url));
            if forwarded {
                request = request.header("x-forwarded-for", format!("198.51.100.{n}"));
            }
            assert_eq!(request.send().await.unwrap().status(), 200);
        }
        process.stop();
        let log = process.log();
        assert_eq!(
            log.matches("outside TRUSTED_PROXIES").count(),
            logged,
            "{variables:?} {forwarded}: {log}"
        );
    }
}

#[tokio::test]
async fn a_request_id_is_always_generated_by_the_server() {
    let server = TestServer::start().await;
    let theirs = "0190b5a0-0000-7000-8000-000000000000";
    let mut seen = vec![theirs.to_owned()];
    for path in ["/", "/", "/nothing", "/healthz"] {
        let response = server.get(path).header("x-request-id", theirs).send().await.unwrap();
        let id = header(response.headers(), "x-request-id");
        assert_eq!(Uuid::parse_str(&id).unwrap().get_version_num(), 7, "{path}");
        assert!(!seen.contains(&id), "{path} got the request id {id}, which is not new");
        seen.push(id);
    }
}

#[tokio::test]
async fn the_log_names_the_request_without_its_query() {
    let log = TestProcessLog::capture();
    let server = TestServer::start().await;
    let response = server.get("/nothing?secret=hunter2").send().await.unwrap();
    let id = header(response.headers(), "x-request-id");

    let lines = log.lines_with(&id);
    let answered = lines.iter().find(|line| line["fields"]["message"] == "answered");
    let answered = answered.unwrap_or_else(|| panic!("nothing was logged: {lines:?}"));
    assert_eq!(answered["span"]["method"], "GET");
    assert_eq!(answered["span"]["path"], "/nothing");
    assert_eq!(answered["fields"]["status"], 404);
    assert!(answered["fields"]["ms"].is_number(), "{answered}");
    assert!(log.lines_with("hunter2").is_empty(), "the query was logged");
}
