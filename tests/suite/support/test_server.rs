//! The real router behind the real accept loop, on a free port.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use buildoff::app::App;
use buildoff::config::{Config, PersonCheckConfig};
use buildoff::generate::AgentSecrets;
use buildoff::web::{
    self,
    server::{self, ServerLimits},
};
use reqwest::{Client, Method, RequestBuilder};
use sqlx::PgPool;
use sqlx::postgres::PgPoolOptions;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::db::TestDb;
use super::{TestAdmin, TestVoter};

pub struct TestServer {
    pub url: String,
    pub client: Client,
    stop: oneshot::Sender<()>,
    task: JoinHandle<()>,
}

impl TestServer {
    /// A server without a database.
    pub async fn start() -> Self {
        Self::serve(web::router(app_without_db()), ServerLimits::default()).await
    }

    /// A server with a database, without rate limits and without a minimum dwell time, that shows partial cohorts.
    pub async fn start_with_db(pool: PgPool) -> Self {
        let variables = [("RATE_LIMITS", "off"), ("MIN_DWELL_MS", "0"), ("COHORT_PERCENT", "0")];
        Self::start_with_env(pool, &variables).await
    }

    /// A server with a database, configured by exactly these environment variables.
    pub async fn start_with_env(pool: PgPool, variables: &[(&str, &str)]) -> Self {
        Self::serve(web::router(app_with_db(pool, variables)), ServerLimits::default()).await
    }

    /// Like [`Self::start_with_env`], and also returns the state of the handlers.
    pub async fn start_with_app(pool: PgPool, variables: &[(&str, &str)]) -> (Self, App) {
        let app = app_with_db(pool, variables);
        (Self::serve(web::router(app.clone()), ServerLimits::default()).await, app)
    }

    /// Like [`Self::start_with_env`], for a service that checks visitors, which verifies tokens at this address.
    pub async fn start_with_captcha_at(pool: PgPool, variables: &[(&str, &str)], verify_url: &str) -> Self {
        let mut config = config(variables);
        let PersonCheckConfig::Captcha(account) = &mut config.person_check else {
            panic!("{variables:?} name no service")
        };
        verify_url.clone_into(&mut account.verify_url);
        let app = App::new(Arc::new(config), pool).unwrap();
        Self::serve(web::router(app), ServerLimits::default()).await
    }

    /// Like [`Self::start_with_env`], with a worker that runs jobs until the server shuts down.
    pub async fn start_with_worker(pool: PgPool, variables: &[(&str, &str)]) -> Self {
        let app = app_with_db(pool, variables);
        let (worker, assessor, closing) = (app.worker.clone(), app.assessor.clone(), app.shutdown.clone());
        tokio::spawn(async move {
            let stop = async {
                closing.cancelled().await;
                worker.stop();
                assessor.stop();
            };
            tokio::join!(worker.run(), assessor.run(), stop);
        });
        let closing = app.shutdown.clone();
        Self::serve_until(web::router(app), ServerLimits::default(), closing).await
    }

    /// A server without a database that has these routes behind the site's middleware.
    pub async fn start_with_routes(routes: Router<App>) -> Self {
        Self::serve(web::with_layers(routes, app_without_db()), ServerLimits::default()).await
    }

    /// Like [`Self::start_with_routes`], with short timeouts.
    pub async fn start_with_short_timeouts(routes: Router<App>) -> Self {
        let short = Duration::from_millis(300);
        let limits = ServerLimits { header: short, drain: short, ..ServerLimits::default() };
        Self::start_with_limits(routes, limits).await
    }

    /// Like [`Self::start_with_routes`], with these limits for clients.
    pub async fn start_with_limits(routes: Router<App>, limits: ServerLimits) -> Self {
        Self::serve(web::with_layers(routes, app_without_db()), limits).await
    }

    /// A server without a database that believes `X-Forwarded-For`, with these limits for clients. Also returns the
    /// state of the handlers.
    pub async fn start_behind_proxy(limits: ServerLimits) -> (Self, App) {
        let app = app_without_db_with_env(&[("TRUSTED_PROXIES", "127.0.0.0/8")]);
        (Self::serve(web::router(app.clone()), limits).await, app)
    }

    async fn serve(router: Router, timeouts: ServerLimits) -> Self {
        Self::serve_until(router, timeouts, CancellationToken::new()).await
    }

    /// Runs until [`Self::shut_down`], which first cancels `closing`.
    async fn serve_until(router: Router, timeouts: ServerLimits, closing: CancellationToken) -> Self {
        let listener = server::bind(([127, 0, 0, 1], 0).into()).await.unwrap();
        let url = server::url(&listener).unwrap();
        let (stop, stopped) = oneshot::channel();
        let stopped = async move {
            let _ = stopped.await;
            closing.cancel();
        };
        let task = tokio::spawn(server::serve(listener, router, timeouts, stopped));
        let client = Client::builder().redirect(reqwest::redirect::Policy::none()).build().unwrap();
        Self { url, client, stop, task }
    }

    /// A client with the admin token.
    pub fn admin(&self) -> TestAdmin {
        TestAdmin::new(&self.url)
    }

    /// A voter without a session.
    pub fn voter(&self) -> TestVoter {
        TestVoter::new(&self.url)
    }

    pub fn get(&self, path: &str) -> RequestBuilder {
        self.request(Method::GET, path)
    }

    pub fn post(&self, path: &str) -> RequestBuilder {
        self.request(Method::POST, path)
    }

    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.client.request(method, self.url_for(path))
    }

    pub fn url_for(&self, path: &str) -> String {
        format!("{}{path}", self.url)
    }

    /// The URL of a page whose viewers draw no shadows, which take long without a graphics card.
    pub fn low_quality_url(&self, path: &str) -> String {
        let separator = if path.contains('?') { '&' } else { '?' };
        self.url_for(&format!("{path}{separator}q=low"))
    }

    /// Begins the shutdown. The returned task ends when the server has stopped.
    pub fn shut_down(self) -> JoinHandle<()> {
        let _ = self.stop.send(());
        self.task
    }
}

/// A server over a database with ten of the shipped builds: five prompts by two models.
pub async fn server_with_builds() -> (TestDb, TestServer) {
    let db = TestDb::seeded().await;
    let server = TestServer::start_with_db(db.pool.clone()).await;
    (db, server)
}

fn app_with_db(pool: PgPool, variables: &[(&str, &str)]) -> App {
    App::new(Arc::new(config(variables)), pool).unwrap()
}

pub fn config(variables: &[(&str, &str)]) -> Config {
    let value = |key: &str| variables.iter().find(|(name, _)| *name == key).map(|(_, value)| value.into());
    let mut config = Config::from_lookup(value).unwrap();
    let secrets: Vec<(String, String)> =
        variables.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
    config.generation.agent_secrets = AgentSecrets::new(move |key| {
        secrets.iter().find(|(name, _)| name == key).map(|(_, value)| value.into())
    });
    config
}

fn app_without_db() -> App {
    app_without_db_with_env(&[])
}

fn app_without_db_with_env(variables: &[(&str, &str)]) -> App {
    // Nothing listens on port 1, so every query fails.
    let pool = PgPoolOptions::new().connect_lazy("postgres://nobody@127.0.0.1:1/none").unwrap();
    app_with_db(pool, variables)
}
