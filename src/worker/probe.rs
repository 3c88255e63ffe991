//! Probing a model: one tiny request tells whether its key, id and options are accepted, before many are sent.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::time::timeout;

use super::Worker;
use crate::arena::budgets;
use crate::arena::catalog::Model;
use crate::generate::attempts::Task;
use crate::generate::build::BuildTask;
use crate::generate::cost::{MicroDollars, cost};
use crate::generate::{
    ChatPrompt, CompletionRequest, CompletionResponse, Delta, GenerateError, GenerateErrorKind, ModelOptions,
};

/// How long an answer is waited for. Whatever has begun to answer by then has accepted the request.
const PROBE_TIMEOUT: Duration = Duration::from_secs(60);

const PROMPT: &str = "This only tests the connection. Do not plan anything: answer at once, with as little as the format allows.";

/// What a model did with a request for next to nothing, sent with the options and the schema of builds.
#[derive(Debug)]
pub struct ModelProbe {
    pub provider: String,
    /// The provider's name for the model.
    pub model_id: String,
    pub failure: Option<ProbeFailure>,
    pub time: Duration,
    /// Missing if it took too long, since nothing is known of its end.
    pub response: Option<CompletionResponse>,
    pub cost: Option<MicroDollars>,
}

/// Why builds cannot be requested.
#[derive(Debug)]
pub struct ProbeFailure {
    pub code: &'static str,
    pub message: String,
}

impl Worker {
    /// None if this server has a key for none of the model's providers. Dropping the future ends the request.
    pub async fn probe(&self, model: &Model) -> Option<ModelProbe> {
        let (provider, model_id) = self.providers().route(model)?;
        self.probe_at(model, provider, model_id).await
    }

    /// Probes the model at one of its providers.
    pub(super) async fn probe_at(&self, model: &Model, provider: &str, model_id: &str) -> Option<ModelProbe> {
        let client = Arc::clone(self.providers().get(provider)?);
        let (mut began, mut waits_for) = (false, None);
        let mut on_delta = |delta: Delta<'_>| match delta {
            Delta::Text(_) | Delta::Thinking { .. } => began = true,
            Delta::Progress(_) => {}
            Delta::Waiting { reason, .. } => waits_for = Some(reason),
            Delta::Usage(_) | Delta::Remote { .. } | Delta::Sent => {}
        };
        let sent_at = Instant::now();
        let request = self.probe_request(model, model_id);
        let result = timeout(PROBE_TIMEOUT, client.ask(&request, &mut on_delta)).await;
        let time = sent_at.elapsed();
        let is_free = matches!(&result, Ok(Err(error)) if error.cost_nothing());
        let (response, failure) = match result {
            Ok(Ok(response)) => (Some(response), None),
            Ok(Err(mut error)) => (Some(std::mem::take(&mut *error.partial)), failure(error)),
            Err(_) if began => (None, None),
            Err(_) => (None, Some(no_answer(waits_for))),
        };
        let used = response.as_ref().and_then(|response| cost(model.prices, &response.usage));
        let cost = if is_free { Some(used.unwrap_or_default()) } else { used };
        let micros = cost.and_then(|cost| i64::try_from(cost.0).ok());
        if let Err(error) = budgets::record_probe(&self.pool, &model.key, micros).await {
            tracing::warn!(%error, "the cost of a probe could not be recorded");
        }
        let (provider, model_id) = (provider.to_owned(), model_id.to_owned());
        Some(ModelProbe { provider, model_id, failure, time, response, cost })
    }

    fn probe_request(&self, model: &Model, model_id: &str) -> CompletionRequest {
        let task = BuildTask {
            prompt: String::new(),
            settings: self.config.arena.clone(),
            max_bytes: self.config.generation.answer_max_bytes,
            site: None,
        };
        CompletionRequest {
            model: model_id.to_owned(),
            vision: model.vision,
            prompt: ChatPrompt::new("You test a connection.", PROMPT),
            schema: task.schema(),
            options: ModelOptions { background: false, ..model.options },
            data: None,
            context: None,
        }
    }
}

/// What is wrong with the request. A model that has begun to answer, or that declines this prompt, has accepted it.
fn failure(error: GenerateError) -> Option<ProbeFailure> {
    use GenerateErrorKind::{Empty, Filtered, Refused, TooLarge, Truncated};
    let is_accepted = error.began || matches!(error.kind, Empty | Filtered | Refused | TooLarge | Truncated);
    (!is_accepted).then(|| ProbeFailure { code: error.kind.code(), message: error.message })
}

fn no_answer(waits_for: Option<String>) -> ProbeFailure {
    let seconds = PROBE_TIMEOUT.as_secs();
    let message = match waits_for {
        Some(reason) => format!("the provider was busy for {seconds} s: {reason}"),
        None => format!("nothing came within {seconds} s"),
    };
    ProbeFailure { code: GenerateErrorKind::Stalled.code(), message }
}
