//! What several addresses of the API show, and pages of the console, too.

use std::collections::BTreeMap;

use serde::Serialize;
use utoipa::ToSchema;

use super::openapi::shapes;
use crate::arena;
use crate::arena::catalog::{ListedModel, ListedPrompt, Model, ModelOptions, Prices, REFERENCE};
use crate::arena::leaderboard::LadderEntry;
use crate::arena::skill::Skill;
use crate::generate::Providers;

/// The settings of a benchmark: builds are compared only at the same grid, palette and mode.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Settings)]
pub(in crate::web) struct SettingsView {
    #[schema(example = 32)]
    grid_size: u32,
    #[schema(example = "simple")]
    palette: &'static str,
    #[schema(example = "precise")]
    mode: String,
}

impl SettingsView {
    pub fn of(settings: &arena::Settings) -> Self {
        Self {
            grid_size: settings.grid.get() as u32,
            palette: settings.palette.name(),
            mode: settings.mode.as_str().to_owned(),
        }
    }
}

/// A model’s place on the leaderboard.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Standing)]
pub(in crate::web) struct StandingView {
    #[schema(example = 1532.5)]
    elo: f64,
    #[schema(example = 40)]
    votes: i64,
    #[schema(example = 22)]
    wins: i64,
    /// Includes both bad.
    #[schema(example = 14)]
    losses: i64,
    #[schema(example = 4)]
    ties: i64,
    #[schema(example = 3)]
    both_bad: i64,
    /// How often the model was shown, in matchups that are closed.
    #[schema(example = 47)]
    shown: i64,
    /// Null until there are enough votes.
    #[schema(required)]
    skill: Option<Skill>,
}

impl StandingView {
    pub fn of(row: &LadderEntry) -> Self {
        let standing = &row.standing;
        Self {
            elo: standing.elo,
            votes: standing.votes(),
            wins: standing.wins,
            losses: standing.losses,
            ties: standing.ties,
            both_bad: standing.both_bad,
            shown: row.shown,
            skill: row.skill.clone(),
        }
    }
}

/// A model, as admins see it.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = AdminModel)]
pub(in crate::web) struct AdminModelView {
    pub key: String,
    pub provider: String,
    pub model_id: String,
    pub display_name: String,
    pub about: String,
    pub enabled: bool,
    /// Whether builds can be generated: a key is set for one of its providers.
    pub can_generate: bool,
    /// The provider that requests go to.
    pub asked_at: Option<String>,
    pub via: BTreeMap<String, String>,
    #[schema(value_type = Option<shapes::PricesSchema>)]
    pub prices: Option<Prices>,
    #[schema(value_type = shapes::OptionsSchema)]
    pub options: ModelOptions,
    /// Whether it sees pictures, so that it can judge builds.
    pub vision: bool,
    pub builds: i64,
}

impl AdminModelView {
    pub fn of(listed: &ListedModel, providers: &Providers) -> Self {
        let ListedModel { model, enabled, builds } = listed.clone();
        let asked_at = providers.route(&model).map(|(provider, _)| provider.to_owned());
        Self {
            key: model.key.to_string(),
            provider: model.provider,
            model_id: model.model_id,
            display_name: model.display_name,
            about: model.about,
            enabled,
            can_generate: asked_at.is_some(),
            asked_at,
            via: model.via,
            prices: model.prices,
            options: model.options,
            vision: model.vision,
            builds,
        }
    }
}

/// Why a model cannot generate builds.
pub(in crate::web) fn unavailable_reason(model: &Model, providers: &Providers) -> Option<String> {
    if providers.can_generate(model) {
        return None;
    }
    if model.provider == REFERENCE {
        return Some("Its builds were made for this project.".to_owned());
    }
    let provider = |key: &str| providers.known().iter().find(|known| known.key == key);
    let variables: Vec<_> =
        model.routes().filter_map(|(key, _)| provider(key)?.key_variable.as_deref()).collect();
    Some(match variables.as_slice() {
        [] if model.is_agent() => "The agent is disabled, or not in the register.".to_owned(),
        [] => {
            format!("The provider {} is not known here, so its builds can only be imported.", model.provider)
        }
        [one] => format!("{one} is not set."),
        several => format!("None of {} are set.", several.join(", ")),
    })
}

/// A prompt, as admins see it.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = AdminPrompt)]
pub(in crate::web) struct AdminPromptView {
    pub id: String,
    pub text: String,
    pub tags: Vec<String>,
    pub active: bool,
    /// Whether its builds are only shown in matchups until enough votes on them are counted.
    pub held_out: bool,
    pub builds: i64,
}

impl AdminPromptView {
    pub fn of(listed: &ListedPrompt) -> Self {
        let ListedPrompt { prompt, active, builds, .. } = listed.clone();
        let held_out = prompt.held_out.unwrap_or(false);
        Self { id: prompt.id.to_string(), text: prompt.text, tags: prompt.tags, active, held_out, builds }
    }
}
