//! Scenario files: how this family of benchmarks says which agents meet.
//!
//! ```toml
//! [green_agent]
//! endpoint = "http://127.0.0.1:9009"
//!
//! [[participants]]
//! role = "agent"
//! endpoint = "http://127.0.0.1:9019"
//!
//! [config]
//! task_category = ["crafting"]
//! ```
//!
//! The green agent is the one that assesses. A file without its endpoint is for us to assess.

use serde::Deserialize;
use serde_json::Value;
use toml::Spanned;

/// The largest file.
pub const MAX_SCENARIO_BYTES: usize = 256 << 10;

/// A scenario, understood.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// Who assesses, if not we.
    pub green_endpoint: Option<String>,
    /// The role of the one that is assessed.
    pub role: String,
    pub agent: ScenarioAgent,
    /// As it stands in the file.
    pub config: Value,
    /// The environment variables that participants want: their names alone.
    pub variables: Vec<String>,
}

/// How the agent that is assessed is named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScenarioAgent {
    Endpoint(String),
    /// An id of AgentBeats, which stands for an agent of the register.
    AgentBeats(String),
}

/// What is wrong with a scenario, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {message}")]
pub struct ScenarioProblem {
    pub line: usize,
    pub message: String,
}

#[derive(Deserialize)]
struct ScenarioFile {
    green_agent: Option<GreenAgent>,
    #[serde(default)]
    participants: Vec<Spanned<Participant>>,
    #[serde(default)]
    config: Option<toml::Table>,
}

#[derive(Deserialize)]
struct GreenAgent {
    endpoint: Option<String>,
}

#[derive(Deserialize)]
struct Participant {
    role: Option<String>,
    name: Option<String>,
    endpoint: Option<String>,
    agentbeats_id: Option<String>,
    image: Option<String>,
    #[serde(default)]
    env: toml::Table,
}

impl Scenario {
    pub fn parse(text: &str) -> Result<Self, ScenarioProblem> {
        let problem = |at: usize, message: String| ScenarioProblem { line: line_of(text, at), message };
        if text.len() > MAX_SCENARIO_BYTES {
            return Err(problem(0, format!("a scenario has at most {} kB", MAX_SCENARIO_BYTES >> 10)));
        }
        let file: ScenarioFile = toml::from_str(text).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start);
            problem(at, error.message().to_owned())
        })?;
        let participant = match &file.participants[..] {
            [] => {
                return Err(problem(
                    text.len(),
                    "there is no [[participants]], the agent to assess".to_owned(),
                ));
            }
            [one] => one,
            [_, other, ..] => {
                let message = "one agent is assessed at a time, so one [[participants]] is enough";
                return Err(problem(other.span().start, message.to_owned()));
            }
        };
        let at = participant.span().start;
        let Participant { role, name, endpoint, agentbeats_id, image, env } = participant.get_ref();
        let agent = match (endpoint, agentbeats_id) {
            (Some(endpoint), _) => ScenarioAgent::Endpoint(endpoint.clone()),
            (None, Some(id)) => ScenarioAgent::AgentBeats(id.clone()),
            (None, None) if image.is_some() => {
                let message = "images are not run here; start the agent and name its endpoint";
                return Err(problem(at, message.to_owned()));
            }
            (None, None) => {
                return Err(problem(at, "the participant has no endpoint and no agentbeats_id".to_owned()));
            }
        };
        let config = file.config.map_or(Ok(Value::Null), |table| {
            serde_json::to_value(table).map_err(|error| problem(0, format!("[config]: {error}")))
        })?;
        Ok(Self {
            green_endpoint: file.green_agent.and_then(|green| green.endpoint),
            role: role.clone().or_else(|| name.clone()).unwrap_or_else(|| "agent".to_owned()),
            agent,
            config,
            variables: env.values().filter_map(|value| variable(value.as_str()?)).collect(),
        })
    }
}

/// The name in `${NAME}`.
fn variable(value: &str) -> Option<String> {
    let name = value.trim().strip_prefix("${")?.strip_suffix('}')?;
    (!name.is_empty()).then(|| name.to_owned())
}

fn line_of(text: &str, at: usize) -> usize {
    text.as_bytes().iter().take(at).filter(|byte| **byte == b'\n').count() + 1
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_scenario_names_who_assesses_and_who_is_assessed() {
        let text = r#"
            [green_agent]
            endpoint = "http://127.0.0.1:9009"
            env = { JUDGE_KEY = "${JUDGE_KEY}" }

            [[participants]]
            role = "agent"
            endpoint = "http://127.0.0.1:9019"
            env = { KEY = "${MY_KEY}", MODE = "fast" }

            [config]
            task_category = ["crafting", "motion"]
            max_steps = 600
        "#;
        let scenario = Scenario::parse(text).unwrap();
        assert_eq!(scenario.green_endpoint.as_deref(), Some("http://127.0.0.1:9009"));
        assert_eq!(scenario.agent, ScenarioAgent::Endpoint("http://127.0.0.1:9019".to_owned()));
        assert_eq!((scenario.role.as_str(), scenario.variables), ("agent", vec!["MY_KEY".to_owned()]));
        assert_eq!(scenario.config, json!({ "task_category": ["crafting", "motion"], "max_steps": 600 }));
    }

    #[test]
    fn what_is_wrong_is_told_with_its_line() {
        for (text, line, words) in [
            ("[config]\n", 2, "no [[participants]]"),
            ("[green_agent]\nendpoint = 7\n", 2, "expected a string"),
            ("x = \n", 1, "value"),
            ("[[participants]]\nrole = \"agent\"\n", 1, "no endpoint"),
            ("[[participants]]\nimage = \"mine:latest\"\n", 1, "images are not run"),
            ("[[participants]]\nendpoint = \"a\"\n[[participants]]\nendpoint = \"b\"\n", 3, "one agent"),
        ] {
            let problem = Scenario::parse(text).unwrap_err();
            assert!(problem.message.contains(words) && problem.line == line, "{text}: {problem}");
        }
    }
}
