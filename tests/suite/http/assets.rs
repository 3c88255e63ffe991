//! Files of `static/` over HTTP.

use super::*;

fn style() -> String {
    buildoff::web::assets::url("style.css")
}

#[tokio::test]
async fn a_file_under_its_hash_is_cached_for_ever() {
    let server = TestServer::start().await;
    let response = server.get(&style()).send().await.unwrap();
    assert_eq!(response.status(), 200);
    assert_eq!(header(response.headers(), "cache-control"), "public, max-age=31536000, immutable");
    assert_eq!(header(response.headers(), "content-type"), "text/css; charset=utf-8");
    assert_eq!(header(response.headers(), "vary"), "accept-encoding");
}

#[tokio::test]
async fn a_file_under_another_hash_is_served_but_not_cached() {
    let server = TestServer::start().await;
    let response = server.get("/static/0123456789abcdef/style.css").send().await.unwrap();
    assert_eq!(response.status(), 200);
    assert_eq!(header(response.headers(), "cache-control"), "no-cache");
}

#[tokio::test]
async fn each_encoding_has_a_strong_tag_that_saves_the_next_fetch() {
    let server = TestServer::start().await;
    let client = reqwest::Client::builder().no_brotli().no_gzip().build().unwrap();
    let mut tags = Vec::new();
    let mut sizes = Vec::new();
    for accepted in ["identity", "gzip", "br"] {
        let fetch = client.get(server.url_for(&style())).header("accept-encoding", accepted);
        let first = fetch.try_clone().unwrap().send().await.unwrap();
        let tag = header(first.headers(), "etag");
        assert!(tag.starts_with('"'), "{tag} is not strong");
        let known = ["*".to_owned(), tag.clone(), format!("\"other\", W/{tag}")];
        for known in known {
            let again = fetch.try_clone().unwrap().header("if-none-match", &known).send().await.unwrap();
            assert_eq!(again.status(), 304, "{accepted}, {known}");
            assert_eq!(header(again.headers(), "etag"), tag);
            assert_eq!(again.bytes().await.unwrap(), "");
        }
        let changed = fetch.header("if-none-match", "\"other\"").send().await.unwrap();
        assert_eq!(changed.status(), 200, "{accepted}");
        tags.push(tag);
        sizes.push(changed.bytes().await.unwrap().len());
    }
    tags.dedup();
    assert_eq!(tags.len(), 3, "{tags:?}");
    assert!(sizes[0] > 2 * sizes[1] && sizes[1] > sizes[2], "plain, gzip, br weigh {sizes:?}");
}

#[tokio::test]
async fn all_encodings_hold_the_same_file() {
    let server = TestServer::start().await;
    let plain = server.get(&style()).header("accept-encoding", "identity").send().await.unwrap();
    let plain = plain.text().await.unwrap();
    for accepted in ["gzip", "br"] {
        let client = match accepted {
            "gzip" => reqwest::Client::builder().no_brotli(),
            _ => reqwest::Client::builder().no_gzip(),
        };
        let packed = client.build().unwrap().get(server.url_for(&style())).send().await.unwrap();
        assert_eq!(packed.text().await.unwrap(), plain, "{accepted}");
    }
}

#[tokio::test]
async fn nothing_outside_the_static_folder_is_served() {
    let server = TestServer::start().await;
    let base = style().replace("style.css", "");
    for path in [
        "",
        "nothing.css",
        "../Cargo.toml",
        "..%2fCargo.toml",
        "%2e%2e/Cargo.toml",
        "/etc/passwd",
        "art",
        "art/../style.css",
    ] {
        let reply = raw_request(
            &server,
            &format!("GET {base}{path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"),
        )
        .await;
        let status = reply.split(' ').nth(1).unwrap_or_default();
        assert!(matches!(status, "404" | "308"), "{path} gave {reply}");
    }
}

#[tokio::test]
async fn favicon_and_robots_txt_are_served() {
    let server = TestServer::start().await;
    let icon = server.get("/favicon.ico").send().await.unwrap();
    assert_eq!(header(icon.headers(), "content-type"), "image/x-icon");
    assert_eq!(&icon.bytes().await.unwrap()[..4], [0, 0, 1, 0]);
    let robots = server.get("/robots.txt").send().await.unwrap();
    assert_eq!(header(robots.headers(), "content-type"), "text/plain; charset=utf-8");
    assert!(robots.text().await.unwrap().contains("User-agent: *"));
}
