//! Compression of responses.

use super::*;

fn routes() -> Router<App> {
    let long = "a long line of the same words\n".repeat(200);
    let typed = move |kind: &'static str| {
        let long = long.clone();
        get(move || async move { ([("content-type", kind)], long).into_response() })
    };
    Router::new()
        .route("/text", typed("text/html"))
        .route("/ndjson", typed("application/x-ndjson"))
        .route("/events", typed("text/event-stream"))
        .route("/png", typed("image/png"))
        .route("/font", typed("font/woff2"))
        .route("/bytes", typed("application/octet-stream"))
        .route(
            "/packed",
            get(|| async { ([("content-encoding", "br"), ("content-type", "text/html")], vec![7; 500]) }),
        )
}

async fn encoding(server: &TestServer, path: &str, accepted: &str) -> String {
    let client = reqwest::Client::builder().no_brotli().no_gzip().build().unwrap();
    let response = client.get(server.url_for(path)).header("accept-encoding", accepted).send().await.unwrap();
    assert_eq!(response.status(), 200, "{path} for {accepted}");
    header(response.headers(), "content-encoding")
}

#[tokio::test]
async fn compressible_responses_use_the_encoding_the_client_accepts() {
    let server = TestServer::start_with_routes(routes()).await;
    for (accepted, expected) in [
        ("gzip, deflate, br, zstd", "br"),
        ("gzip", "gzip"),
        ("br;q=0.1, gzip", "gzip"),
        ("deflate", ""),
        ("", ""),
        ("identity;q=0, *;q=0", ""),
    ] {
        assert_eq!(encoding(&server, "/text", accepted).await, expected, "{accepted}");
    }
}

#[tokio::test]
async fn streams_and_compressed_bytes_are_not_compressed_again() {
    let server = TestServer::start_with_routes(routes()).await;
    for path in ["/ndjson", "/events", "/png", "/font", "/bytes"] {
        assert_eq!(encoding(&server, path, "gzip, br").await, "", "{path}");
    }
    assert_eq!(encoding(&server, "/packed", "gzip, br").await, "br");
}

#[tokio::test]
async fn pages_and_their_errors_have_a_vary_header() {
    let server = TestServer::start().await;
    for path in ["/", "/nothing"] {
        let response = server.get(path).send().await.unwrap();
        assert_eq!(header(response.headers(), "vary"), "accept-encoding", "{path}");
        assert!(response.text().await.unwrap().contains("</html>"), "{path}");
    }
}
