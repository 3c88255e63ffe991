//! Trailing slashes, `HEAD`, and hosts.

use super::*;

#[tokio::test]
async fn head_answers_like_get_without_a_body() {
    let server = TestServer::start().await;
    for (path, status) in [("/", 200), ("/healthz", 200), ("/robots.txt", 200), ("/nothing", 404)] {
        let response = server.request(Method::HEAD, path).send().await.unwrap();
        assert_eq!(response.status(), status, "{path}");
        assert_eq!(response.bytes().await.unwrap(), "", "{path}");
    }
}

#[tokio::test]
async fn a_trailing_slash_leads_to_the_page() {
    let server = TestServer::start().await;
    for (path, expected) in
        [("/format/", "/format"), ("/format//", "/format"), ("/format/?a=b/", "/format?a=b/")]
    {
        let response = server.get(path).send().await.unwrap();
        assert_eq!(response.status(), 308, "{path}");
        assert_eq!(header(response.headers(), "location"), expected, "{path}");
    }
}

#[tokio::test]
async fn a_trailing_slash_never_leads_to_another_site() {
    let server = TestServer::start().await;
    for path in ["//evil.example/", "///evil.example/", "/\\evil.example/"] {
        let reply =
            raw_request(&server, &format!("GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"))
                .await;
        assert!(reply.starts_with("HTTP/1.1 404"), "{path} gave {reply}");
        assert!(!reply.to_lowercase().contains("\r\nlocation:"), "{path} gave {reply}");
    }
}

#[tokio::test]
async fn no_page_repeats_an_invalid_host() {
    let server = TestServer::start().await;
    for host in ["\"><script>", "a';reboot;'", "somebody@evil.example", ""] {
        let request = format!("GET /format HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
        let reply = raw_request(&server, &request).await;
        assert!(reply.contains("http://localhost:3000/api/check"), "{host} gave {reply}");
    }
    let html = server.get("/format").send().await.unwrap().text().await.unwrap();
    assert!(html.contains(&format!("{}/api/check", server.url)), "a valid host must appear in URLs");
}
