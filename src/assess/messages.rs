//! The messages of a run: JSON in a text part, both ways.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde_json::{Value, json};
use world::action::SentAction;

/// How many characters of an agent's own words are kept.
const MAX_WORDS: usize = 300;

/// The message that begins a run.
pub fn init_message(text: &str) -> String {
    json!({ "type": "init", "text": text }).to_string()
}

/// The message of a step: the picture that the agent sees before it acts.
pub fn obs_message(step: u64, jpeg: &[u8]) -> String {
    json!({ "type": "obs", "step": step, "obs": STANDARD.encode(jpeg) }).to_string()
}

/// What an agent answers to the message that begins a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Acknowledgement {
    pub success: bool,
    pub message: String,
}

impl Acknowledgement {
    /// # Errors
    /// If the answer is none, in words for people.
    pub fn read(answer: &str) -> Result<Self, String> {
        #[derive(Deserialize)]
        struct AckMessage {
            success: Option<bool>,
            #[serde(default)]
            message: Option<Value>,
        }
        let value = json_in(answer)?;
        let AckMessage { success, message } =
            serde_json::from_value(value).map_err(|error| format!("it is no acknowledgement: {error}"))?;
        let success = success.ok_or("it does not say \"success\": true or false")?;
        let message = match message {
            Some(Value::String(text)) => text,
            _ => String::new(),
        };
        Ok(Self { success, message: message.chars().take(MAX_WORDS).collect() })
    }
}

/// Reads the action in an answer.
///
/// # Errors
/// If there is none, in words for people.
pub fn read_action(answer: &str) -> Result<SentAction, String> {
    SentAction::from_json(&json_in(answer)?).map_err(|error| error.to_string())
}

/// The JSON object of an answer: all of it, or the last line that is one, since agents may say something before it.
fn json_in(answer: &str) -> Result<Value, String> {
    let answer = answer.trim();
    let whole = serde_json::from_str::<Value>(answer);
    if let Ok(value @ Value::Object(_)) = whole {
        return Ok(value);
    }
    let object = |text: &str| serde_json::from_str::<Value>(text).ok().filter(Value::is_object);
    let last_line = answer.lines().rev().map(str::trim).filter(|line| line.starts_with('{')).find_map(object);
    let enclosed = || object(answer.get(answer.find('{')?..=answer.rfind('}')?)?);
    last_line.or_else(enclosed).ok_or_else(|| match whole {
        Ok(_) => "it is JSON, but not an object".to_owned(),
        Err(error) => format!("it is not JSON: {error}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_may_say_something_before_its_json() {
        for answer in [
            r#"{"type": "action", "keys": ["jump"]}"#,
            "Let me jump.\n{\"keys\": [\"jump\"]}",
            "```json\n{\n  \"keys\": [\"jump\"]\n}\n```",
            "{\"keys\": [\"attack\"]}\n{\"keys\": [\"jump\"]}",
        ] {
            let sent = read_action(answer).unwrap();
            assert!(sent.action.is_down(world::action::Button::Jump), "{answer}");
        }
    }

    #[test]
    fn what_is_no_action_is_told_in_words() {
        for (answer, words) in [
            ("", "not JSON"),
            ("jump", "not JSON"),
            ("[1]", "not an object"),
            ("{}", "an action has"),
            (r#"{"buttons": [9000], "camera": [60]}"#, "0 to 8640"),
        ] {
            let problem = read_action(answer).unwrap_err();
            assert!(problem.contains(words), "{answer}: {problem}");
        }
    }

    #[test]
    fn an_acknowledgement_says_whether_the_agent_is_ready() {
        let read = |answer| Acknowledgement::read(answer).map(|ack| (ack.success, ack.message));
        assert_eq!(
            read(r#"{"type": "ack", "success": true, "message": "on it"}"#),
            Ok((true, "on it".into()))
        );
        assert_eq!(read(r#"{"success": false}"#), Ok((false, String::new())));
        assert!(read("{}").unwrap_err().contains("success"));
        assert!(read("ready").unwrap_err().contains("not JSON"));
    }
}
