//! The ladder for programs.

use axum::Json;
use axum::extract::{Query, State};
use serde::{Deserialize, Serialize};
use time::OffsetDateTime;

use super::super::Error;
use super::Ladder;
use crate::app::App;
use crate::arena;
use crate::arena::leaderboard::Row;
use crate::arena::skill::Skill;

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Wanted {
    provider: String,
    tag: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Told {
    settings: Settings,
    #[serde(with = "time::serde::rfc3339")]
    as_of: OffsetDateTime,
    models: Vec<Model>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::web) struct Settings {
    grid_size: u32,
    palette: &'static str,
    mode: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Model {
    rank: usize,
    key: String,
    provider: String,
    display_name: String,
    #[serde(flatten)]
    standing: Standing,
}

/// Where a model stands, wherever its name is known already.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::web) struct Standing {
    elo: f64,
    votes: i64,
    wins: i64,
    losses: i64,
    ties: i64,
    both_bad: i64,
    shown: i64,
    skill: Option<Skill>,
}

pub(super) async fn leaderboard(
    State(app): State<App>,
    Query(wanted): Query<Wanted>,
) -> Result<Json<Told>, Error> {
    let board = if wanted.tag.is_empty() {
        app.arena.leaderboard().await?
    } else {
        Ladder::of(&app, &wanted.tag).await?.board
    };
    let mut rows = board.rows;
    rows.retain(|row| wanted.provider.is_empty() || row.model.provider == wanted.provider);
    Ok(Json(Told {
        settings: Settings::of(&app.arena.settings),
        as_of: board.as_of,
        models: rows.into_iter().map(Model::of).collect(),
    }))
}

impl Settings {
    pub fn of(settings: &arena::Settings) -> Self {
        Self {
            grid_size: settings.grid.get() as u32,
            palette: settings.palette.name(),
            mode: settings.mode.as_str().to_owned(),
        }
    }
}

impl Model {
    fn of(row: Row) -> Self {
        let standing = Standing::of(&row);
        let Row { rank, model, .. } = row;
        let key = model.key.to_string();
        Self { rank, key, provider: model.provider, display_name: model.display_name, standing }
    }
}

impl Standing {
    pub fn of(row: &Row) -> Self {
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
