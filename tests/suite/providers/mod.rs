//! The provider clients, each against a fake server of its protocol.

mod agents;
mod answers;
mod errors;
mod limits;
mod malformed_answers;
mod pictures;
mod requests;
mod secrets;
mod unsupported_options;

use std::sync::Arc;
use std::time::Duration;

use buildoff::generate::{
    ChatPrompt, CompletionRequest, CompletionResponse, Delta, GenerateError, GenerateErrorKind, ModelOptions,
    RequestLimits, provider,
};
use serde_json::{Value, json};

use crate::support::fake_protocol::MODEL;
use crate::support::{FakeBodyStep, FakePart, FakeProtocol, FakeProvider, FakeResponse};

/// Timeouts that a slow machine does not reach, and short waits between retries.
pub fn patience() -> RequestLimits {
    let ages = Duration::from_secs(60);
    RequestLimits {
        connect: ages,
        first_byte: ages,
        idle: ages,
        total: ages,
        max_bytes: 1 << 20,
        tries: 3,
        backoff: Duration::from_millis(1),
        max_wait: Duration::from_secs(5),
    }
}

pub fn question() -> CompletionRequest {
    CompletionRequest {
        model: MODEL.to_owned(),
        vision: false,
        prompt: ChatPrompt::new("You build.", "a duck"),
        schema: None,
        options: ModelOptions { max_output_tokens: Some(1000), ..ModelOptions::default() },
        data: None,
        context: None,
    }
}

fn schema() -> Arc<Value> {
    let count = json!({ "type": "integer", "minimum": 0 });
    Arc::new(json!({
        "type": "object",
        "properties": { "count": count },
        "required": ["count"],
        "additionalProperties": false,
    }))
}

/// Sends one request, and returns its outcome with the deltas that were reported.
async fn ask(
    at: &FakeProvider,
    question: &CompletionRequest,
    patience: RequestLimits,
) -> (Result<CompletionResponse, GenerateError>, Vec<String>) {
    let provider = provider(&at.endpoint(), patience, false).unwrap();
    let mut deltas = Vec::new();
    let result = provider.ask(question, &mut |delta| deltas.extend(describe(&delta))).await;
    (result, deltas)
}

fn describe(delta: &Delta<'_>) -> Option<String> {
    Some(match delta {
        Delta::Sent | Delta::Remote { .. } => return None,
        Delta::Text(text) => format!("text {text}"),
        Delta::Thinking { chars } => format!("thinking {chars}"),
        Delta::Progress(words) => format!("progress {words}"),
        Delta::Usage(usage) => format!("usage {:?}/{:?}/{:?}", usage.input, usage.output, usage.reasoning),
        Delta::Waiting { attempt, reason, seconds } => format!("waiting {attempt} {seconds:.3}: {reason}"),
    })
}

/// The failure that these responses lead to without retries.
async fn failure(protocol: FakeProtocol, response: FakeResponse) -> GenerateError {
    failure_within(protocol, response, patience()).await
}

async fn failure_within(
    protocol: FakeProtocol,
    response: FakeResponse,
    patience: RequestLimits,
) -> GenerateError {
    let provider = FakeProvider::with_responses(protocol, [response]).await;
    let (result, _) = ask(&provider, &question(), RequestLimits { tries: 1, ..patience }).await;
    match result {
        Ok(answer) => panic!("{protocol:?} answered {answer:?}"),
        Err(failure) => failure,
    }
}
