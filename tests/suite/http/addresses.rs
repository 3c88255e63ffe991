//! Paths and methods that are nearly right.

use super::*;

#[tokio::test]
async fn head_answers_like_get_without_a_body() {
    let site = Site::open().await;
    for (path, status) in [("/", 200), ("/healthz", 200), ("/robots.txt", 200), ("/nothing", 404)] {
        let response = site.request(Method::HEAD, path).send().await.unwrap();
        assert_eq!(response.status(), status, "{path}");
        assert_eq!(response.bytes().await.unwrap(), "", "{path}");
    }
}

#[tokio::test]
async fn a_trailing_slash_leads_to_the_page() {
    let site = Site::open().await;
    for (path, expected) in
        [("/format/", "/format"), ("/format//", "/format"), ("/format/?a=b/", "/format?a=b/")]
    {
        let response = site.get(path).send().await.unwrap();
        assert_eq!(response.status(), 308, "{path}");
        assert_eq!(header(response.headers(), "location"), expected, "{path}");
    }
}

#[tokio::test]
async fn a_trailing_slash_never_leads_to_another_site() {
    let site = Site::open().await;
    for path in ["//evil.example/", "///evil.example/", "/\\evil.example/"] {
        let said = raw(&site, &format!("GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")).await;
        assert!(said.starts_with("HTTP/1.1 404"), "{path} gave {said}");
        assert!(!said.to_lowercase().contains("\r\nlocation:"), "{path} gave {said}");
    }
}

#[tokio::test]
async fn no_page_repeats_a_host_that_is_not_one() {
    let site = Site::open().await;
    for host in ["\"><script>", "a';reboot;'", "somebody@evil.example", ""] {
        let request = format!("GET /format HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
        let said = raw(&site, &request).await;
        assert!(said.contains("http://localhost:3000/api/check"), "{host} gave {said}");
    }
    let html = site.get("/format").send().await.unwrap().text().await.unwrap();
    assert!(html.contains(&format!("{}/api/check", site.url)), "a good one is repeated");
}
