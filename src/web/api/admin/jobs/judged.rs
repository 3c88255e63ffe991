//! What a judge's job is about.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::arena::Choice;
use crate::arena::jobs::JudgedInJob;

/// What a judge is asked about, and says.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = JudgedBuilds)]
pub struct JudgedView {
    /// The build, or the one on the left.
    pub build_id: Uuid,
    /// The key of the model that made it.
    pub of: String,
    pub of_name: String,
    /// The build on the right; null unless two builds are compared.
    pub right_build_id: Option<Uuid>,
    pub right_of: Option<String>,
    pub right_of_name: Option<String>,
    /// The mean of the scores, from 0 to 10; null before they are given.
    #[schema(example = 7.4)]
    pub overall: Option<f64>,
    /// A for the left build, B for the right one, TIE or BOTH_BAD; null before the choice is made.
    pub choice: Option<String>,
}

impl From<JudgedInJob> for JudgedView {
    fn from(judged: JudgedInJob) -> Self {
        Self {
            build_id: judged.builds.first(),
            of: judged.maker.to_string(),
            of_name: judged.maker_name,
            right_build_id: judged.builds.second(),
            right_of: judged.second_maker.map(|maker| maker.to_string()),
            right_of_name: judged.second_maker_name,
            overall: judged.overall,
            choice: judged.choice.map(|choice| choice.name().to_owned()),
        }
    }
}

impl JudgedView {
    /// By whom the builds are, such as "by opus" or "opus or gpt".
    pub fn makers(&self) -> String {
        match &self.right_of {
            Some(right) => format!("{} or {right}", self.of),
            None => format!("by {}", self.of),
        }
    }

    /// What the judge says, in a few words.
    pub fn verdict(&self) -> Option<String> {
        if let Some(overall) = self.overall {
            return Some(format!("{overall:.1} of 10"));
        }
        let choice: Choice = self.choice.as_deref()?.parse().ok()?;
        let right = self.right_of.as_deref().unwrap_or_default();
        Some(match choice {
            Choice::A => format!("{}, on the left", self.of),
            Choice::B => format!("{right}, on the right"),
            Choice::Tie => "a tie".to_owned(),
            Choice::BothBad => "both are bad".to_owned(),
        })
    }
}
