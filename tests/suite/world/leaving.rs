//! What is drawn for visitors who leave in the middle, for many at once, and by two servers.

use std::time::Duration;

use buildoff_world::ENGINE;
use futures_util::future::join_all;
use reqwest::header::ETAG;
use tokio::time::sleep;

use crate::disconnects::wait_until_no_requests;
use crate::support::db::TestDb;
use crate::support::{AbortableRequest, TestServer};

/// What a server draws or makes when somebody asks for it, and how it begins.
fn addresses() -> [(String, &'static [u8]); 3] {
    [
        ("/tasks/crafting/craft_oak_planks/start.webp".to_owned(), b"RIFF"),
        ("/tasks/crafting/craft_oak_planks/solution.webp".to_owned(), b"RIFF"),
        (format!("/world/scenes/house/grid?engine={ENGINE}"), b""),
    ]
}

/// A whole answer: its tag and its bytes.
async fn get(server: &TestServer, path: &str) -> (String, Vec<u8>) {
    let answer = AbortableRequest::get(path).send(&server.url).await;
    let answer = answer.unwrap_or_else(|| panic!("{path} ends early"));
    assert_eq!(answer.status, 200, "{path}: {}", answer.text());
    (answer.headers[ETAG].to_str().unwrap().to_owned(), answer.bytes)
}

/// Asks, and leaves after so many milliseconds unless the answer is there by then.
async fn leave_after(server: &TestServer, path: &str, milliseconds: u64) -> bool {
    tokio::select! {
        answer = AbortableRequest::get(path).send(&server.url) => answer.is_none(),
        () = sleep(Duration::from_millis(milliseconds)) => true,
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_leaves_in_the_middle_leaves_nothing_half_drawn() {
    let (server, other) = (TestServer::start().await, TestServer::start().await);
    for (path, magic) in addresses() {
        let mut left = 0;
        for milliseconds in [1, 5, 20, 80, 320] {
            left += usize::from(leave_after(&server, &path, milliseconds).await);
        }
        assert!(left >= 2, "{path}: only {left} left before the answer");
        wait_until_no_requests(&server).await;
        let drawn = get(&server, &path).await;
        assert!(drawn.1.starts_with(magic) && drawn.1.len() > 1000, "{path}");
        assert!(drawn == get(&other, &path).await, "{path} is as on a server that nobody has left");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_at_once_get_the_same_however_many_of_them_leave() {
    let server = TestServer::start().await;
    for (path, _) in addresses() {
        let (server, path) = (&server, &path);
        let stay = join_all((0..6).map(|_| get(server, path)));
        let leave = join_all((0..12).map(|number| leave_after(server, path, number * 15)));
        let (drawn, _) = tokio::join!(stay, leave);
        assert!(drawn.iter().all(|one| *one == drawn[0]), "{path}");
        wait_until_no_requests(server).await;
        assert!(get(server, path).await == drawn[0], "{path} afterwards");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_servers_on_one_database_draw_the_same_under_the_same_tags() {
    let db = TestDb::new().await;
    let one = TestServer::start_with_db(db.pool.clone()).await;
    let other = TestServer::start_with_db(db.pool.clone()).await;
    for (path, _) in addresses() {
        let (drawn, drawn_again) = tokio::join!(get(&one, &path), get(&other, &path));
        assert!(drawn == drawn_again, "{path}");
        let known = AbortableRequest::get(&path).header("if-none-match", &drawn.0).send(&other.url).await;
        assert_eq!(known.unwrap().status, 304, "{path}: what one server has sent, the other knows");
    }
}
