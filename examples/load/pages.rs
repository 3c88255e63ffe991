//! Pages timed right after a start and later, while votes come in.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use tokio::time::sleep;

use crate::client::Client;
use crate::figures::Times;
use crate::server::Server;
use crate::voting;

/// The server is started so many times, and each page asked for first in its turn.
const STARTS: usize = 3;

/// Of each page, after every start.
const WARM: usize = 20;

const PAGES: [&str; 5] =
    ["/leaderboard", "/models/model_7", "/api/leaderboard", "/leaderboard?tag=tag-3", "/about"];

/// To be reached by the first two.
pub const COLD: Duration = Duration::from_millis(300);
pub const WARM_P50: Duration = Duration::from_millis(30);

pub struct Page {
    pub path: &'static str,
    pub cold: Times,
    pub warm: Times,
}

/// Two voters vote all the while, and half a second lies between a page and the next.
pub async fn cold_and_warm(server: &mut Server) -> Result<Vec<Page>> {
    let mut pages: Vec<_> =
        PAGES.map(|path| Page { path, cold: Times::default(), warm: Times::default() }).into();
    for page in &mut pages {
        for _ in 0..STARTS {
            server.restart().await?;
            let time = Duration::from_secs(6);
            let voting = tokio::spawn(voting::as_fast_as_they_can(server.address, 2, time));
            page.cold.add(timed(server.address, page.path).await?);
            for _ in 0..WARM {
                sleep(Duration::from_millis(200)).await;
                page.warm.add(timed(server.address, page.path).await?);
            }
            voting.await?;
        }
        page.cold.print(&format!("{} cold", page.path));
        page.warm.print(&format!("{} warm", page.path));
    }
    Ok(pages)
}

async fn timed(address: SocketAddr, path: &str) -> Result<Duration> {
    let mut client = Client::new(address);
    let begun = Instant::now();
    let answer = client.get(path).await?;
    ensure!(answer.status == 200, "{path} answers {}", answer.name());
    Ok(begun.elapsed())
}
