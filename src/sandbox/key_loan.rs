//! The server's own API keys, lent to a visitor for one run.
//!
//! Whoever has no key of their own may use the server's, within a budget: each network has so many runs a day, and all
//! visitors together so many dollars. Both are counted in the database, so that several servers share them and a
//! restart forgets nothing. What is lent also counts for the budgets of the day, the month and the model.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use sqlx::PgPool;
use time::Date;
use tokio::runtime::Handle;
use tokio::sync::Mutex;
use tokio::task::JoinHandle;

use super::CHARS_PER_TOKEN;
use crate::arena::ModelKey;
use crate::arena::budgets::{BudgetScope, SpendingLimits};
use crate::arena::catalog::Prices;
use crate::arena::lent_keys::{self, LendError, UncountedRun};
use crate::client_network::ClientNetwork;
use crate::config::LoanLimits;
use crate::generate::cost::{TYPICAL_USAGE, cost};
use crate::generate::{CompletionRequest, CompletionResponse, Delta, GenerateError, ModelProvider, Usage};

/// For a model that costs, but nobody knows how much: as much as the most expensive one of the built-in catalog.
const ASSUMED_PRICES: Prices = Prices { input: 10.0, cached_input: None, output: 50.0 };

const FREE: Prices = Prices { input: 0.0, cached_input: None, output: 0.0 };

/// A larger cost is a mistake in a price or a usage, and must not overflow the sum of the day.
const MAX_COST: i64 = 1 << 50;

/// The right of one run to use the server's keys.
pub struct KeyLoan {
    pool: PgPool,
    limits: LoanLimits,
    spending: SpendingLimits,
    network: ClientNetwork,
    /// Whether the run counts among its network's. It does once its first request is about to be sent, so a visitor who
    /// leaves the queue uses nothing up.
    is_counted: Mutex<bool>,
}

/// A provider that charges what it costs to the loan.
struct LentProvider {
    loan: Arc<KeyLoan>,
    provider: Arc<dyn ModelProvider>,
    model: ModelKey,
    prices: Prices,
}

/// A request that is paid for. It was charged with what it is expected to cost; dropping it corrects that. A request
/// that was dropped in the middle is never charged less than expected, because some models think unseen for a long
/// time before anything arrives.
struct Charge {
    pool: PgPool,
    day: Date,
    model: ModelKey,
    prices: Prices,
    expected: i64,
    /// Of the request's text, which few providers report before the end.
    input_tokens: u64,
    /// Characters that have streamed in.
    chars: usize,
    usage: Usage,
    outcome: ChargeOutcome,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ChargeOutcome {
    UnderWay,
    Answered,
    /// Without an answer, or with a part of one.
    Failed,
    /// The provider did not take the request.
    Declined,
    Settled,
}

impl KeyLoan {
    pub fn new(
        pool: PgPool,
        limits: LoanLimits,
        spending: SpendingLimits,
        network: ClientNetwork,
    ) -> Arc<Self> {
        Arc::new(Self { pool, limits, spending, network, is_counted: Mutex::new(false) })
    }

    /// Lends a provider for a model with these prices. A provider that needs no key costs nothing.
    pub fn lend(
        self: &Arc<Self>,
        provider: Arc<dyn ModelProvider>,
        model: ModelKey,
        prices: Option<Prices>,
        needs_key: bool,
    ) -> Arc<dyn ModelProvider> {
        let prices = prices.unwrap_or(if needs_key { ASSUMED_PRICES } else { FREE });
        Arc::new(LentProvider { loan: Arc::clone(self), provider, model, prices })
    }

    /// Fails if the budget does not allow another request.
    async fn charge(
        &self,
        model: &ModelKey,
        prices: Prices,
        request: &CompletionRequest,
    ) -> Result<Charge, GenerateError> {
        let LoanLimits { runs_per_network, .. } = self.limits;
        let chars = request.prompt.system.len() + request.prompt.user.len();
        let input_tokens = (chars / CHARS_PER_TOKEN) as u64;
        let output = TYPICAL_USAGE
            .output
            .min(request.options.max_output_tokens.map(u64::from).or(TYPICAL_USAGE.output));
        let expected = micros(prices, Usage { input: Some(input_tokens), output, ..Usage::default() });
        // The other side of the run waits until this one has counted it.
        let mut is_counted = self.is_counted.lock().await;
        let run = UncountedRun { network: self.network, max_runs: runs_per_network };
        let run = (!*is_counted).then_some(run);
        let spent = lent_keys::spend(&self.pool, model, expected, &self.spending, run).await;
        let day = spent.map_err(|error| match error {
            LendError::NoRunsLeft => GenerateError::over_budget(format!(
                "Your network has used up its {runs_per_network} runs a day with this server’s API keys. Enter your \
                 own key, or try again tomorrow."
            )),
            LendError::OverBudget(scope) => GenerateError::over_budget(used_up(&scope)),
            LendError::Database(error) => unknown_budget(&error),
        })?;
        *is_counted = true;
        drop(is_counted);
        Ok(Charge {
            pool: self.pool.clone(),
            day,
            model: model.clone(),
            prices,
            expected,
            input_tokens,
            chars: 0,
            usage: Usage::default(),
            outcome: ChargeOutcome::UnderWay,
        })
    }
}

#[async_trait]
impl ModelProvider for LentProvider {
    async fn ask(
        &self,
        request: &CompletionRequest,
        on_delta: &mut (dyn for<'d> FnMut(Delta<'d>) + Send),
    ) -> Result<CompletionResponse, GenerateError> {
        let mut charge = self.loan.charge(&self.model, self.prices, request).await?;
        let mut follow = |delta: Delta<'_>| {
            charge.follow(&delta);
            on_delta(delta);
        };
        let result = self.provider.ask(request, &mut follow).await;
        charge.end(&result);
        if let Some(settled) = charge.settle() {
            let _ = settled.await;
        }
        result
    }

    fn retry_wait(&self, error: &GenerateError, failures: u32) -> Option<Duration> {
        self.provider.retry_wait(error, failures)
    }

    fn log_rejected(&self, answer: &str, why: &str) {
        self.provider.log_rejected(answer, why);
    }
}

impl Charge {
    fn follow(&mut self, delta: &Delta<'_>) {
        match delta {
            Delta::Text(text) => self.chars += text.chars().count(),
            Delta::Thinking { chars } => self.chars += chars,
            Delta::Usage(usage) => self.usage = **usage,
            Delta::Sent | Delta::Progress(_) | Delta::Remote { .. } | Delta::Waiting { .. } => {}
        }
    }

    fn end(&mut self, result: &Result<CompletionResponse, GenerateError>) {
        let (usage, outcome) = match result {
            Ok(response) => (&response.usage, ChargeOutcome::Answered),
            Err(error) => {
                let is_declined = error.cost_nothing();
                let outcome = if is_declined { ChargeOutcome::Declined } else { ChargeOutcome::Failed };
                (&error.partial.usage, outcome)
            }
        };
        self.usage.update(*usage);
        self.outcome = outcome;
    }

    /// What the request has cost, as far as it can be known.
    fn amount(&self) -> i64 {
        let reported = cost(Some(self.prices), &self.usage).map(|_| micros(self.prices, self.usage));
        let output = (self.chars / CHARS_PER_TOKEN) as u64;
        let seen = micros(
            self.prices,
            Usage { input: Some(self.input_tokens), output: Some(output), ..Usage::default() },
        );
        match (self.outcome, reported) {
            (ChargeOutcome::Answered, Some(reported)) => reported,
            // Before the end, a provider may have reported only what it had counted by then.
            (ChargeOutcome::Failed, Some(reported)) => reported.max(seen),
            (ChargeOutcome::Declined, reported) => reported.unwrap_or(0),
            (_, reported) => self.expected.max(seen).max(reported.unwrap_or(0)),
        }
    }

    /// Runs in a task of its own, so that it ends although the visitor may leave.
    fn settle(&mut self) -> Option<JoinHandle<()>> {
        if self.outcome == ChargeOutcome::Settled {
            return None;
        }
        let (pool, day, model) = (self.pool.clone(), self.day, self.model.clone());
        let (expected, amount) = (self.expected, self.amount());
        self.outcome = ChargeOutcome::Settled;
        // Without a runtime the program is about to end, and the expected amount stays.
        let runtime = Handle::try_current().ok()?;
        Some(runtime.spawn(async move {
            if let Err(error) = lent_keys::correct(&pool, day, &model, expected, amount).await {
                tracing::warn!(%error, "the cost of a request with this server's keys could not be corrected");
            }
        }))
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        self.settle();
    }
}

fn micros(prices: Prices, usage: Usage) -> i64 {
    let micros = cost(Some(prices), &usage).map_or(0, |micros| micros.0);
    i64::try_from(micros).unwrap_or(i64::MAX).min(MAX_COST)
}

fn used_up(scope: &BudgetScope) -> &'static str {
    match scope {
        BudgetScope::Day | BudgetScope::Sandbox => {
            "This server’s budget for its API keys is used up for today. Enter your own key, or try again tomorrow."
        }
        BudgetScope::Month => {
            "This server’s budget for its API keys is used up for this month. Enter your own key, or try again next \
             month."
        }
        BudgetScope::Model(_) => {
            "This server’s budget for this model is used up. Enter your own key, or choose another model."
        }
    }
}

/// Keys are not lent while nobody can tell what is left of the budget.
fn unknown_budget(error: &sqlx::Error) -> GenerateError {
    tracing::error!(%error, "the budget for this server's keys could not be read");
    GenerateError::over_budget(
        "This server’s budget for its API keys could not be checked. Try again in a moment, or enter your own key.",
    )
}
