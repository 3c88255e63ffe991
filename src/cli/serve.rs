//! `buildoff serve`: settings, logs, socket, database, site; then the same in reverse.

use std::process::{self, ExitCode};
use std::sync::Arc;
use std::time::Instant;

use anyhow::Context;
use tokio::net::TcpListener;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::oneshot;
use tracing::info;

use crate::app::App;
use crate::arena::catalog::Catalog;
use crate::arena::exhibition;
use crate::background;
use crate::config::Config;
use crate::db::Database;
use crate::logging;
use crate::web;
use crate::web::server::{self, Patience};

pub(super) fn run(started: Instant) -> anyhow::Result<ExitCode> {
    let config = Config::load()?;
    logging::start(&config.logging)?;
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .context("the async runtime could not start")?
        .block_on(serve(config, started))?;
    Ok(ExitCode::SUCCESS)
}

async fn serve(config: Config, started: Instant) -> anyhow::Result<()> {
    let mut stop = stop_signal()?;
    // Before the database, so that a taken port costs nothing.
    let listener = server::bind(config.bind).await?;
    let database = tokio::select! {
        opened = Database::open(&config.database) => opened?,
        _ = &mut stop => return Ok(()),
    };
    let result = site(config, listener, &database, stop, started).await;
    database.close().await;
    info!("stopped");
    result
}

async fn site(
    config: Config,
    listener: TcpListener,
    database: &Database,
    stop: oneshot::Receiver<()>,
    started: Instant,
) -> anyhow::Result<()> {
    hang_the_exhibition(&config, database).await?;
    let app = App::new(Arc::new(config), database.pool().clone());

    announce(&server::url(&listener)?, started);
    let background = background::start(&app);
    tokio::task::spawn_blocking(web::prepare);
    tokio::select! {
        () = server::serve(listener, web::router(app), Patience::default(), stop) => {}
        () = database.keep_up() => {}
    }
    drop(background);
    Ok(())
}

/// A new installation gets something to look at.
async fn hang_the_exhibition(config: &Config, database: &Database) -> anyhow::Result<()> {
    let begun = Instant::now();
    let catalog = Catalog::load(config.data_dir.as_deref())?;
    let builds = exhibition::open(database.pool(), &catalog).await?;
    if builds > 0 {
        info!(builds, ms = begun.elapsed().as_millis() as u64, "the first builds are in");
    }
    Ok(())
}

fn announce(url: &str, started: Instant) {
    let ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
    info!(url, ms, "listening");
    if logging::on_a_terminal() {
        eprintln!("\n  Buildoff is up at {url}\n  Ready in {ms} ms. Ctrl-C stops it.\n");
    }
}

/// Resolves at the first SIGINT or SIGTERM; the second one ends the process at once.
fn stop_signal() -> anyhow::Result<oneshot::Receiver<()>> {
    let mut interrupt = signal(SignalKind::interrupt()).context("SIGINT cannot be watched")?;
    let mut terminate = signal(SignalKind::terminate()).context("SIGTERM cannot be watched")?;
    let (send, receive) = oneshot::channel();
    tokio::spawn(async move {
        either(&mut interrupt, &mut terminate).await;
        info!("stopping; a second signal stops at once");
        let _ = send.send(());
        either(&mut interrupt, &mut terminate).await;
        process::exit(130);
    });
    Ok(receive)
}

async fn either(interrupt: &mut Signal, terminate: &mut Signal) {
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
    }
}
