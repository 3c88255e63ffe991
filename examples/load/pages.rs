//! Measures pages right after a start and later, while votes come in.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use tokio::time::sleep;

use crate::client::LoadClient;
use crate::measurements::LoadLatencies;
use crate::server::LoadServer;
use crate::voting;

/// The number of starts per page. After each of them, this page is requested first.
const RESTARTS: usize = 3;

/// Further requests of the page after each start.
const WARM_REQUESTS: usize = 20;

const PAGES: [&str; 5] =
    ["/leaderboard", "/models/model_7", "/api/leaderboard", "/leaderboard?tag=tag-3", "/about"];

/// The targets for the first two pages.
pub const COLD_TARGET: Duration = Duration::from_millis(300);
pub const WARM_TARGET: Duration = Duration::from_millis(30);

pub struct LoadPageLatencies {
    pub path: &'static str,
    pub cold: LoadLatencies,
    pub warm: LoadLatencies,
}

/// Times all pages while two voters vote.
pub async fn measure_pages(server: &mut LoadServer) -> Result<Vec<LoadPageLatencies>> {
    let mut pages: Vec<_> = PAGES
        .map(|path| LoadPageLatencies {
            path,
            cold: LoadLatencies::default(),
            warm: LoadLatencies::default(),
        })
        .into();
    for page in &mut pages {
        for _ in 0..RESTARTS {
            server.restart().await?;
            let time = Duration::from_secs(6);
            let voting = tokio::spawn(voting::run_voters(server.address, 2, time));
            page.cold.add(timed(server.address, page.path).await?);
            for _ in 0..WARM_REQUESTS {
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
    let mut client = LoadClient::new(address);
    let begun = Instant::now();
    let answer = client.get(path).await?;
    ensure!(answer.status == 200, "{path} has status {}", answer.status_and_code());
    Ok(begun.elapsed())
}
