//! `buildoff serve`: settings, logs, socket, database, site; then the same in reverse.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use anyhow::Context;
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tracing::{info, warn};

use crate::app::App;
use crate::arena::shipped_builds::{self, ProgressFn};
use crate::background;
use crate::config::Config;
use crate::db::Database;
use crate::generate::Secret;
use crate::logging;
use crate::web;
use crate::web::server::{self, ServerTimeouts};

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
    let mut stop = super::stop_signal()?;
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
    import_exhibition(&config, database).await?;
    if config.admin_token.as_ref().is_some_and(Secret::is_short) {
        warn!("ADMIN_TOKEN is short enough to be guessed; `openssl rand -hex 32` makes a better one");
    }
    let app = App::with_replica(Arc::new(config), database.pool().clone(), database.replica().clone())?;

    announce(&server::url(&listener)?, started);
    let background = background::start(&app);
    tokio::task::spawn_blocking(web::prepare);
    let (worker, closing) = (app.worker.clone(), app.shutdown.clone());
    let worker = tokio::spawn({
        let closing = closing.clone();
        async move { worker.run(closing).await }
    });
    let stopped = async {
        let _ = stop.await;
        closing.cancel();
    };
    tokio::select! {
        () = server::serve(listener, web::router(app), ServerTimeouts::default(), stopped) => {}
        () = database.supervise() => {}
    }
    drop(background);
    worker.await.context("the workshop fell over")
}

/// A new installation gets something to look at.
async fn import_exhibition(config: &Config, database: &Database) -> anyhow::Result<()> {
    let begun = Instant::now();
    let progress: ProgressFn = if logging::on_a_terminal() { print_progress } else { |_, _| () };
    let builds = shipped_builds::install_with_progress(database.pool(), &config.catalog, progress).await?;
    if builds > 0 {
        info!(builds, ms = begun.elapsed().as_millis() as u64, "the first builds are in");
    }
    Ok(())
}

/// On one line of the terminal, which is gone when it is done.
fn print_progress(done: usize, of: usize) {
    eprint!("\r\x1b[K");
    if done < of {
        eprint!("  Hanging the first builds: {done} of {of}");
    }
}

fn announce(url: &str, started: Instant) {
    let ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
    info!(url, ms, "listening");
    if logging::on_a_terminal() {
        eprintln!("\n  Buildoff is up at {url}\n  Ready in {ms} ms. Ctrl-C stops it.\n");
    }
}
