//! What asking models may cost, and who is told before it is spent.

use std::ffi::OsString;

use url::Url;

use super::env::EnvReader;
use super::sandbox::LoanLimits;
use crate::arena::budgets::SpendingLimits;
use crate::outbound;

const MAX_DOLLARS: f64 = 1_000_000.0;

pub struct BudgetConfig {
    pub limits: SpendingLimits,
    pub webhook: Option<BudgetWebhook>,
}

/// Where alarms about budgets are sent. Whoever knows the address may be able to send there too, so it is a secret, and
/// this has no `Debug`.
#[derive(Clone)]
pub struct BudgetWebhook {
    pub url: Url,
    /// Whether it may be in the local network, and without TLS.
    pub allow_private: bool,
}

impl<L: Fn(&str) -> Option<OsString>> EnvReader<L> {
    pub(super) fn budgets(&mut self, loan: &LoanLimits) -> BudgetConfig {
        BudgetConfig {
            limits: SpendingLimits {
                day: self.micro_dollars("BUDGET_DAY"),
                month: self.micro_dollars("BUDGET_MONTH"),
                sandbox_day: Some(i64::try_from(loan.budget.0).unwrap_or(i64::MAX)),
            },
            webhook: self.budget_webhook(),
        }
    }

    /// A number of dollars, in millionths of one.
    fn micro_dollars(&mut self, name: &str) -> Option<i64> {
        let allowed = format!("a number of dollars from 0 to {MAX_DOLLARS}");
        let within = |text: &str| text.parse().ok().filter(|dollars| (0.0..=MAX_DOLLARS).contains(dollars));
        self.parse(name, &allowed, within).map(|dollars: f64| (dollars * 1e6).round() as i64)
    }

    fn budget_webhook(&mut self) -> Option<BudgetWebhook> {
        let allow_private = self.switch("BUDGET_WEBHOOK_LOCAL").unwrap_or(false);
        let text = self.text("BUDGET_WEBHOOK")?;
        let url = text
            .parse::<Url>()
            .ok()
            .filter(|url| outbound::parse_base_url(without_query(url).as_str()).is_ok());
        let url = url.filter(|url| url.scheme() == "https" || allow_private);
        if url.is_none() {
            self.report(
                "BUDGET_WEBHOOK",
                "must be an address that begins with https://, without # and @ (its value is not shown here)",
            );
        }
        Some(BudgetWebhook { url: url?, allow_private })
    }
}

fn without_query(url: &Url) -> Url {
    let mut url = url.clone();
    url.set_query(None);
    url
}
