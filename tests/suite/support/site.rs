//! The real router behind the real accept loop, on a free port.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use buildoff::app::App;
use buildoff::config::Config;
use buildoff::web::{
    self,
    server::{self, ServerTimeouts},
};
use reqwest::{Client, Method, RequestBuilder};
use sqlx::PgPool;
use sqlx::postgres::PgPoolOptions;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::{Admin, Voter};

pub struct Site {
    pub url: String,
    pub client: Client,
    stop: oneshot::Sender<()>,
    task: JoinHandle<()>,
}

impl Site {
    /// The site as it is.
    pub async fn open() -> Self {
        Self::serve(web::router(app()), ServerTimeouts::default()).await
    }

    /// The site over a database, for tests in a hurry.
    pub async fn open_on(pool: PgPool) -> Self {
        Self::open_as(pool, &[("RATE_LIMITS", "off"), ("MIN_DWELL_MS", "0")]).await
    }

    /// The site over a database, with these variables set and no others.
    pub async fn open_as(pool: PgPool, variables: &[(&str, &str)]) -> Self {
        Self::serve(web::router(app_over(pool, variables)), ServerTimeouts::default()).await
    }

    /// The same, and what its handlers reach.
    pub async fn open_with_app(pool: PgPool, variables: &[(&str, &str)]) -> (Self, App) {
        let app = app_over(pool, variables);
        (Self::serve(web::router(app.clone()), ServerTimeouts::default()).await, app)
    }

    /// The same, with its workshop at work until the test ends.
    pub async fn open_working(pool: PgPool, variables: &[(&str, &str)]) -> Self {
        let app = app_over(pool, variables);
        let (workshop, closing) = (app.workshop.clone(), app.closing.clone());
        tokio::spawn(async move { workshop.run(closing).await });
        let closing = app.closing.clone();
        Self::serve_until(web::router(app), ServerTimeouts::default(), closing).await
    }

    /// Other routes, dressed as the site's own are.
    pub async fn open_with(routes: Router<App>) -> Self {
        Self::serve(web::with_layers(routes, app()), ServerTimeouts::default()).await
    }

    /// The same, with less time for visitors.
    pub async fn open_hasty(routes: Router<App>) -> Self {
        let hasty = ServerTimeouts { header: Duration::from_millis(300), drain: Duration::from_millis(300) };
        Self::serve(web::with_layers(routes, app()), hasty).await
    }

    async fn serve(router: Router, timeouts: ServerTimeouts) -> Self {
        Self::serve_until(router, timeouts, CancellationToken::new()).await
    }

    /// Cancels `closing` when it is asked to stop.
    async fn serve_until(router: Router, timeouts: ServerTimeouts, closing: CancellationToken) -> Self {
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

    /// Somebody with the token.
    pub fn admin(&self) -> Admin {
        Admin::at(&self.url)
    }

    /// Somebody new.
    pub fn voter(&self) -> Voter {
        Voter::at(&self.url)
    }

    pub fn get(&self, path: &str) -> RequestBuilder {
        self.request(Method::GET, path)
    }

    pub fn post(&self, path: &str) -> RequestBuilder {
        self.request(Method::POST, path)
    }

    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.client.request(method, self.at(path))
    }

    pub fn at(&self, path: &str) -> String {
        format!("{}{path}", self.url)
    }

    /// Asks the server to stop; the handle ends when it has.
    pub fn close(self) -> JoinHandle<()> {
        let _ = self.stop.send(());
        self.task
    }
}

fn app_over(pool: PgPool, variables: &[(&str, &str)]) -> App {
    let value =
        |wanted: &str| variables.iter().find(|(name, _)| *name == wanted).map(|(_, value)| value.into());
    App::new(Arc::new(Config::from_lookup(value).unwrap()), pool)
}

fn app() -> App {
    let config = Config::from_lookup(|_| None).unwrap();
    // Port 1 answers nobody, so that whatever needs the database finds it gone.
    let pool = PgPoolOptions::new().connect_lazy("postgres://nobody@127.0.0.1:1/none").unwrap();
    App::new(Arc::new(config), pool)
}
