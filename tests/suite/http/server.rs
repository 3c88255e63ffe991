//! The accept loop.

use tokio::sync::Notify;

use super::*;

#[tokio::test]
async fn a_handler_knows_the_address_of_its_client() {
    let who =
        get(
            |ConnectInfo(visitor): ConnectInfo<std::net::SocketAddr>| async move { visitor.ip().to_string() },
        );
    let server = TestServer::start_with_routes(Router::new().route("/who", who)).await;
    assert_eq!(server.get("/who").send().await.unwrap().text().await.unwrap(), "127.0.0.1");
}

#[tokio::test]
async fn a_header_without_end_is_refused() {
    let server = TestServer::start().await;
    let reply =
        raw_request(&server, &format!("GET / HTTP/1.1\r\nHost: x\r\nX: {}\r\n\r\n", "x".repeat(100_000)))
            .await;
    assert!(reply.starts_with("HTTP/1.1 431"), "{reply}");
    assert_eq!(server.get("/healthz").send().await.unwrap().status(), 200, "the next request must be served");
}

#[tokio::test]
async fn shutdown_lets_a_running_request_finish() {
    static BEGUN: Notify = Notify::const_new();
    static GO_ON: Notify = Notify::const_new();
    let slow = get(|| async {
        BEGUN.notify_one();
        GO_ON.notified().await;
        "finished"
    });
    let server = TestServer::start_with_routes(Router::new().route("/slow", slow)).await;
    let idle = TcpStream::connect(server.url.trim_start_matches("http://")).await.unwrap();
    let request = tokio::spawn(server.get("/slow").send());
    BEGUN.notified().await;

    let (url, client) = (server.url.clone(), server.client.clone());
    let started = Instant::now();
    let closed = server.shut_down();
    GO_ON.notify_one();
    assert_eq!(request.await.unwrap().unwrap().text().await.unwrap(), "finished");
    closed.await.unwrap();
    assert!(started.elapsed() < Duration::from_secs(2), "an idle connection must not delay the shutdown");
    assert!(client.get(url).send().await.is_err(), "the port must be closed");
    drop(idle);
}

#[tokio::test]
async fn a_port_in_use_is_an_error_that_says_what_to_do() {
    let server = TestServer::start().await;
    let address = server.url.trim_start_matches("http://").parse().unwrap();
    let error = buildoff::web::server::bind(address).await.unwrap_err().to_string();
    assert!(error.contains(&format!("{address} is already in use")) && error.contains("PORT="), "{error}");
}

#[tokio::test]
async fn a_client_that_never_finishes_its_header_is_disconnected() {
    let server = TestServer::start_with_short_timeouts(Router::new()).await;
    let started = Instant::now();
    raw_request(&server, "GET / HTTP/1.1\r\nHost: x\r\n").await;
    assert!(
        started.elapsed() < Duration::from_secs(3),
        "the connection was open for {:?}",
        started.elapsed()
    );
}

#[tokio::test]
async fn shutdown_does_not_wait_for_ever() {
    static BEGUN: Notify = Notify::const_new();
    let endless = get(|| async {
        BEGUN.notify_one();
        std::future::pending::<()>().await;
    });
    let server = TestServer::start_with_short_timeouts(Router::new().route("/endless", endless)).await;
    let request = tokio::spawn(server.get("/endless").send());
    BEGUN.notified().await;

    let started = Instant::now();
    server.shut_down().await.unwrap();
    assert!(
        started.elapsed() < Duration::from_secs(3),
        "the connection was open for {:?}",
        started.elapsed()
    );
    request.abort();
}
