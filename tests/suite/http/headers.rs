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
