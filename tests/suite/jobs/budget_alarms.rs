//! Alarms about budgets, and the webhook that gets them.

use std::sync::{Arc, Mutex};

use axum::Router;
use axum::http::{StatusCode, Uri};
use buildoff::arena::budgets::SpendingLimits;
use buildoff::background::watch_budgets;
use reqwest::Method;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use super::budgets::{BudgetFixture, NO_LIMITS};
use crate::support::TestLogBuffer;

/// Receives alarms, and answers each with the next of these statuses, then with 200.
struct FakeWebhook {
    url: String,
    received: Arc<Mutex<Vec<Value>>>,
    task: JoinHandle<()>,
}

impl FakeWebhook {
    async fn start(statuses: &[u16]) -> Self {
        let received: Arc<Mutex<Vec<Value>>> = Arc::default();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/hook/s3cr3t-path?sig=s3cr3t-query", listener.local_addr().unwrap());
        let (kept, statuses) = (Arc::clone(&received), statuses.to_owned());
        let handler = move |method: Method, uri: Uri, body: String| {
            let mut kept = kept.lock().unwrap();
            assert_eq!(
                (method.as_str(), uri.to_string().as_str()),
                ("POST", "/hook/s3cr3t-path?sig=s3cr3t-query")
            );
            let status = statuses.get(kept.len()).copied().unwrap_or(200);
            kept.push(serde_json::from_str(&body).unwrap());
            async move { StatusCode::from_u16(status).unwrap() }
        };
        let router = Router::new().fallback(handler);
        let task = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self { url, received, task }
    }

    fn received(&self) -> Vec<Value> {
        self.received.lock().unwrap().clone()
    }

    fn variables(&self) -> [(&str, &str); 3] {
        [("BUDGET_DAY", "10"), ("BUDGET_WEBHOOK", &self.url), ("BUDGET_WEBHOOK_LOCAL", "on")]
    }
}

impl Drop for FakeWebhook {
    fn drop(&mut self) {
        self.task.abort();
    }
}

#[tokio::test]
async fn an_alarm_is_raised_and_sent_once_over_all_servers() {
    let webhook = FakeWebhook::start(&[]).await;
    let fixture = BudgetFixture::with_queued(&["one"], &["shed"], &[]).await;
    let apps = [fixture.app(&webhook.variables()).await, fixture.app(&webhook.variables()).await];
    let watch = async || {
        let [first, second] = &apps;
        tokio::try_join!(watch_budgets(first), watch_budgets(second), watch_budgets(first)).unwrap();
    };
    fixture.spend("one", 7_999_999).await;
    watch().await;
    assert_eq!(webhook.received(), Vec::<Value>::new());
    fixture.spend("one", 8_000_000).await;
    watch().await;
    watch().await;
    let received = webhook.received();
    assert_eq!(received.len(), 1, "{received:?}");
    assert_eq!(
        (&received[0]["text"], &received[0]["budget"], &received[0]["percent"], &received[0]["spent"]),
        (
            &json!("Buildoff: 80 % of the budget for today is spent: $8.00 of $10.00."),
            &json!("day"),
            &json!(80),
            &json!(8.0)
        )
    );
    fixture.spend("one", 11_000_000).await;
    watch().await;
    assert_eq!(webhook.received().len(), 2);
    assert_eq!(webhook.received()[1]["percent"], 100);
    fixture.jobs.db.run("UPDATE budget_alarms SET period = period - 1").await;
    watch().await;
    assert_eq!(webhook.received().len(), 4, "another day has alarms of its own");
}

#[tokio::test]
async fn a_webhook_that_fails_gets_the_alarm_again_a_few_times() {
    let webhook = FakeWebhook::start(&[500; 3]).await;
    let fixture = BudgetFixture::with_queued(&["one"], &["shed"], &[]).await;
    let app = fixture.app(&webhook.variables()).await;
    fixture.spend("one", 9_000_000).await;
    for tries in 1..=3 {
        watch_budgets(&app).await.unwrap();
        watch_budgets(&app).await.unwrap();
        assert_eq!(webhook.received().len(), tries, "the next try is not due yet");
        fixture.jobs.db.run("UPDATE budget_alarms SET next_try_at = now()").await;
    }
    watch_budgets(&app).await.unwrap();
    fixture.jobs.db.run("UPDATE budget_alarms SET next_try_at = now()").await;
    watch_budgets(&app).await.unwrap();
    assert_eq!(webhook.received().len(), 4, "what was delivered is not sent again");
}

#[tokio::test]
async fn a_webhook_in_a_private_network_is_not_asked_and_its_address_is_never_logged() {
    let log = TestLogBuffer::default();
    let logged = tracing_subscriber::fmt().with_writer(log.clone()).with_ansi(false).finish();
    let _guard = tracing::subscriber::set_default(logged);
    let webhook = FakeWebhook::start(&[]).await;
    let private = webhook.url.replace("http://", "https://");
    let fixture = BudgetFixture::with_queued(&["one"], &["shed"], &[]).await;
    let app = fixture.app(&[("BUDGET_DAY", "10"), ("BUDGET_WEBHOOK", &private)]).await;
    fixture.spend("one", 9_000_000).await;
    watch_budgets(&app).await.unwrap();
    assert!(log.text().contains("the address is not on the public internet"), "{}", log.text());
    // Nothing speaks TLS there, so the connection fails.
    let app = fixture
        .app(&[("BUDGET_DAY", "10"), ("BUDGET_WEBHOOK", &private), ("BUDGET_WEBHOOK_LOCAL", "on")])
        .await;
    fixture.jobs.db.run("UPDATE budget_alarms SET next_try_at = now()").await;
    watch_budgets(&app).await.unwrap();
    assert_eq!(log.text().matches("could not be sent to BUDGET_WEBHOOK").count(), 2, "{}", log.text());
    assert!(!log.text().contains("s3cr3t"), "{}", log.text());
    assert!(!fixture.jobs.db.dump().await.contains("s3cr3t"));
    assert_eq!(webhook.received(), Vec::<Value>::new());
}

#[tokio::test]
async fn a_webhook_that_does_not_answer_holds_up_no_claim() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let fixture = BudgetFixture::with_queued(&["one"], &["shed"], &[]).await;
    let app =
        fixture.app(&[("BUDGET_DAY", "10"), ("BUDGET_WEBHOOK", &url), ("BUDGET_WEBHOOK_LOCAL", "on")]).await;
    fixture.spend("one", 9_000_000).await;
    let watching = tokio::spawn(async move { watch_budgets(&app).await });
    let _connection = listener.accept().await.unwrap();
    let limits = SpendingLimits { day: Some(10_000_000), ..NO_LIMITS };
    assert!(fixture.claim(&limits).await.is_some());
    assert!(!watching.is_finished());
    watching.abort();
}
