//! Another assessor, whoever wrote it, as its client over A2A.

use std::time::Duration;

use anyhow::anyhow;
use serde_json::{Value, json};

use super::AssessEnding;
use crate::assess::report::{AssessmentResult, ResultFile, ResultParticipants};
use crate::cli::output;
use crate::generate::a2a::agent_address;
use crate::generate::{
    ChatPrompt, CompletionRequest, Delta, Endpoint, GenerateErrorKind, ModelOptions, ProviderKind,
    RequestLimits, agent_provider,
};

/// How long another assessor may take.
const GREEN_AGENT_LIMIT: Duration = Duration::from_secs(24 * 60 * 60);

/// Orders the assessment there, and waits for its end.
pub(super) async fn order(
    endpoint: &str,
    role: &str,
    agent: &str,
    config: Value,
) -> anyhow::Result<AssessEnding> {
    let order = json!({ "participants": { role: agent }, "config": config });
    let endpoint =
        Endpoint { provider: ProviderKind::A2a, base_url: agent_address(endpoint)?, key: None, pinned: None };
    let limits = RequestLimits {
        total: GREEN_AGENT_LIMIT,
        first_byte: GREEN_AGENT_LIMIT,
        idle: GREEN_AGENT_LIMIT,
        ..RequestLimits::default()
    };
    let green = agent_provider(&endpoint, true, limits, false)?;
    let request = CompletionRequest {
        model: String::new(),
        prompt: ChatPrompt::new("", order.to_string()),
        schema: None,
        options: ModelOptions::default(),
        vision: false,
        data: None,
        context: None,
    };
    let mut told = |delta: Delta<'_>| {
        if let Delta::Progress(words) = delta {
            output::note(words);
        }
    };
    let answer = match green.ask(&request, &mut told).await {
        Ok(answer) => answer,
        Err(error) => {
            use GenerateErrorKind::{BadAnswer, NeedsInput, Refused};
            let words = error.message_with_status();
            return match error.kind {
                Refused | BadAnswer | NeedsInput => {
                    Ok(AssessEnding::Unsuccessful(format!("Nothing came of the assessment: {words}.")))
                }
                _ => Err(anyhow!("the assessor cannot be asked: {words}")),
            };
        }
    };
    let mut results = answer.text.lines().rev();
    let Some(result) = results.find_map(|line| serde_json::from_str::<AssessmentResult>(line.trim()).ok())
    else {
        let words = format!("The assessor answered without a result: {}", answer.text);
        return Ok(AssessEnding::Unsuccessful(words));
    };
    let participants = ResultParticipants { agent: agent.to_owned() };
    Ok(AssessEnding::Finished(ResultFile { participants, results: vec![result] }))
}
