//! Asking providers, each of them against a server that speaks as it does.

mod answers;
mod bounds;
mod broken;
mod complaints;
mod requests;
mod secrets;
mod steps;

use std::sync::Arc;
use std::time::Duration;

use buildoff::generate::{
    Answer, Delta, Failure, FailureKind, Options, Patience, Question, Speaker, Turn, provider,
};
use serde_json::{Value, json};

use crate::support::voice::MODEL;
use crate::support::{Beat, Provider, Say, Script, Voice};

/// Enough for a slow machine, and quick to ask again.
pub fn patience() -> Patience {
    let ages = Duration::from_secs(60);
    Patience {
        connect: ages,
        first_byte: ages,
        idle: ages,
        total: ages,
        max_bytes: 1 << 20,
        tries: 3,
        backoff: Duration::from_millis(1),
        longest_wait: Duration::from_secs(5),
    }
}

pub fn question() -> Question {
    let turn = |by, text: &str| Turn { by, text: text.to_owned() };
    Question {
        model: MODEL.to_owned(),
        system: "You build.".to_owned(),
        turns: vec![
            turn(Speaker::User, "a duck"),
            turn(Speaker::Model, "{}"),
            turn(Speaker::User, "again, please"),
        ],
        schema: None,
        max_output_tokens: Some(1000),
        options: Options::default(),
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

/// Asks once, and tells what was told meanwhile.
async fn ask(
    at: &Provider,
    question: &Question,
    patience: Patience,
) -> (Result<Answer, Failure>, Vec<String>) {
    let provider = provider(&at.endpoint(), patience, false).unwrap();
    let mut told = Vec::new();
    let result = provider.ask(question, &mut |delta| told.extend(tell(&delta))).await;
    (result, told)
}

fn tell(delta: &Delta<'_>) -> Option<String> {
    Some(match delta {
        Delta::Sent => return None,
        Delta::Text(text) => format!("text {text}"),
        Delta::Thinking { chars } => format!("thinking {chars}"),
        Delta::Usage(usage) => format!("usage {:?}/{:?}/{:?}", usage.input, usage.output, usage.reasoning),
        Delta::Waiting { attempt, reason, seconds } => format!("waiting {attempt} {seconds:.3}: {reason}"),
    })
}

/// The failure that this script ends in, when nothing is tried twice.
async fn failure(voice: Voice, script: Script) -> Failure {
    failure_within(voice, script, patience()).await
}

async fn failure_within(voice: Voice, script: Script, patience: Patience) -> Failure {
    let provider = Provider::with(voice, [script]).await;
    let (result, _) = ask(&provider, &question(), Patience { tries: 1, ..patience }).await;
    match result {
        Ok(answer) => panic!("{voice:?} answered {answer:?}"),
        Err(failure) => failure,
    }
}
