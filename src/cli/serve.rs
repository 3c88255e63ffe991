//! `buildoff serve`: opens settings, logs, socket, database and site in this order, and closes them in reverse.

use std::net::IpAddr;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use anyhow::Context;
use clap::Args;
use tokio::net::TcpListener;
use tracing::{info, warn};

use super::output;
use super::signals::{self, StopSignals};
use crate::app::App;
use crate::arena::catalog;
use crate::arena::shipped_builds::{self, ProgressFn};
use crate::background;
use crate::config::{Config, ListenAt};
use crate::db::Database;
use crate::logging;
use crate::web;
use crate::web::server::{self, ConnectionLimits, ServerLimits, open_files};

/// What the command line says in place of BIND and PUBLIC_URL, as images of agents are started.
#[derive(Args)]
pub(super) struct ServeArgs {
    /// The address to listen at, in place of that in BIND.
    #[arg(long, value_name = "HOST")]
    host: Option<IpAddr>,
    /// The port to listen at, in place of that in BIND.
    #[arg(long, value_name = "PORT")]
    port: Option<u16>,
    /// The address at which other agents reach this server, for its card. Default: PUBLIC_URL, or where it listens.
    #[arg(long, value_name = "URL", value_parser = card_url)]
    card_url: Option<String>,
}

pub(super) fn run(arguments: ServeArgs, started: Instant) -> anyhow::Result<ExitCode> {
    let mut config = Config::load_at(ListenAt { host: arguments.host, port: arguments.port })?;
    config.card_url = arguments.card_url;
    logging::start(&config.logging)?;
    super::runtime()?.block_on(serve(config, started))?;
    Ok(ExitCode::SUCCESS)
}

fn card_url(text: &str) -> Result<String, String> {
    let is_address = catalog::is_address(text);
    is_address
        .then(|| text.to_owned())
        .ok_or_else(|| "it is an address such as https://buildoff.example".to_owned())
}

async fn serve(mut config: Config, started: Instant) -> anyhow::Result<()> {
    let stop = signals::watch()?;
    // The port is bound before the database is opened, so that a port in use is reported at once.
    let listener = server::bind(config.bind).await?;
    // The port may have been chosen by the system.
    config.bind = listener.local_addr().context("the listener has no address")?;
    let metrics_listener = match config.metrics_bind {
        Some(address) => Some(server::bind(address).await?),
        None => None,
    };
    let database = tokio::select! {
        opened = Database::open(&config.database) => opened?,
        () = stop.first.cancelled() => return Ok(()),
    };
    let result = site(config, listener, metrics_listener, &database, stop, started).await;
    database.close().await;
    info!("stopped");
    result
}

async fn site(
    config: Config,
    listener: TcpListener,
    metrics_listener: Option<TcpListener>,
    database: &Database,
    stop: StopSignals,
    started: Instant,
) -> anyhow::Result<()> {
    import_shipped_builds(&config, database).await?;
    warn_of_fixed_models(&config, database).await?;
    for warning in config.warnings() {
        warn!("{warning}");
    }
    let connections = ConnectionLimits {
        trusted_proxies: config.trusted_proxies.clone(),
        ..ConnectionLimits::for_room(open_files::raise_limit())
    };
    let limits = ServerLimits { connections, ..ServerLimits::default() };
    let app = App::with_replica(Arc::new(config), database.pool().clone(), database.replica().clone())?;

    announce(&server::url(&listener)?, started);
    if let Some(listener) = metrics_listener {
        info!(metrics = server::url(&listener)?, "metrics have an address of their own");
        let (router, stop) = (web::metrics_router(app.clone()), app.shutdown.clone().cancelled_owned());
        tokio::spawn(server::serve(listener, router, ServerLimits::default(), stop));
    }
    let background = background::start(&app);
    tokio::task::spawn_blocking(web::prepare);
    let (worker, closing) = (app.worker.clone(), app.shutdown.clone());
    let mut working = tokio::spawn({
        let worker = worker.clone();
        async move { worker.run().await }
    });
    let assessor = app.assessor.clone();
    let assessing = tokio::spawn({
        let assessor = assessor.clone();
        async move { assessor.run().await }
    });
    // The site is served while answers are waited for, and says that it is not ready.
    let mut result = Ok(());
    let stopped = async {
        stop.first.cancelled().await;
        let ended = signals::drain(&worker, &mut working, &stop.second).await;
        result = ended.context("the worker panicked");
        // What runs here goes on elsewhere, or after the restart.
        assessor.stop();
        if let Err(error) = assessing.await {
            tracing::error!(%error, "the assessor panicked");
        }
        closing.cancel();
    };
    tokio::select! {
        () = server::serve(listener, web::router(app), limits, stopped) => {}
        () = database.supervise() => {}
    }
    drop(background);
    result
}

/// Imports the builds that come with Buildoff into a new installation.
async fn import_shipped_builds(config: &Config, database: &Database) -> anyhow::Result<()> {
    let begun = Instant::now();
    let progress: ProgressFn = if logging::on_a_terminal() { print_progress } else { |_, _| () };
    let builds = shipped_builds::install_with_progress(database.pool(), &config.catalog, progress).await?;
    if builds > 0 {
        info!(builds, ms = begun.elapsed().as_millis() as u64, "imported the first builds");
    }
    Ok(())
}

/// Says which models the catalog's files would have asked differently than before.
async fn warn_of_fixed_models(config: &Config, database: &Database) -> anyhow::Result<()> {
    let mut connection = database.pool().acquire().await?;
    for model in config.catalog.fixed_models(&mut connection).await? {
        warn!(
            %model,
            "models.toml asks this model differently than for the builds that it has, so its provider, ID and options \
             stay as they were; give it another key, or change it with `buildoff models change --retire-builds`"
        );
    }
    Ok(())
}

/// Shows the progress on one line of the terminal, and clears the line at the end.
fn print_progress(done: usize, of: usize) {
    output::note_part("\r\x1b[K");
    if done < of {
        output::note_part(format_args!("  Importing the first builds: {done} of {of}"));
    }
}

fn announce(url: &str, started: Instant) {
    let ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
    info!(url, ms, "listening");
    if logging::on_a_terminal() {
        output::note(format_args!(
            "\n  Buildoff is running at {url}\n  Ready in {ms} ms. Press Ctrl-C to stop.\n"
        ));
    }
}
