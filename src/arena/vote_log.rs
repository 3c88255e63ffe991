//! The vote log: every vote with everything that ratings follow from, and nothing about its voter.
//!
//! The log is read page by page, and nothing is held in between: no transaction, no connection. Its pages are
//! consistent with each other because of how votes get their ids. Votes that are counted together take a block of ids
//! while they hold the locks on the ratings of all their models. The log ends at the largest id that was committed when
//! it was opened. A vote up to that id had taken its id by then, and all earlier votes on its models had been
//! committed. Votes that were being counted at that moment may be part of the log or not, those of one block together.
//! Either way, the log contains every vote that another vote in it builds on.

use std::{fmt, io};

use serde::{Deserialize, Serialize};
use sqlx::PgExecutor;
use time::OffsetDateTime;
use utoipa::ToSchema;
use uuid::Uuid;

use super::{Choice, Exclusion, ModelKey, PromptId};

/// Votes per page, some 150 kB as text.
const PAGE: i64 = 400;

/// A vote, with everything needed to recompute the leaderboard.
// Names and order of the fields are the log's format.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct LoggedVote {
    /// Votes are counted in this order. Numbers can be missing.
    #[schema(example = 17)]
    pub id: i64,
    #[serde(with = "time::serde::rfc3339")]
    pub at: OffsetDateTime,
    pub matchup_id: Uuid,
    #[schema(value_type = String, example = "steam-locomotive")]
    pub prompt_id: PromptId,
    #[schema(value_type = String, example = "reference_architect")]
    pub model_a: ModelKey,
    #[schema(value_type = String, example = "reference_sculptor")]
    pub model_b: ModelKey,
    /// The build’s id in this log, which the arena never shows. The dataset says which public build has it.
    pub build_a: String,
    pub build_b: String,
    #[schema(inline)]
    pub choice: Choice,
    /// The side of model A, which is always `left`.
    #[schema(value_type = String, example = "left")]
    pub side: LoggedSide,
    #[schema(example = "32-simple-precise")]
    pub settings: String,
    #[schema(example = 1500.0)]
    pub elo_a_before: f64,
    #[schema(example = 1508.0)]
    pub elo_a_after: f64,
    #[schema(example = 1500.0)]
    pub elo_b_before: f64,
    #[schema(example = 1492.0)]
    pub elo_b_after: f64,
    /// The probability of this pair, given its prompt.
    #[schema(example = 0.2)]
    pub probability: f64,
    /// The time from when both builds had been sent until the vote, in milliseconds.
    #[schema(required, example = 8200)]
    pub dwell_ms: Option<i64>,
    /// Why the vote does not count; null if it does.
    // Logs from before there were exclusions do not have the field.
    #[serde(default)]
    #[schema(required, inline, example = json!(null))]
    pub exclusion: Option<Exclusion>,
    /// The latest decision of an admin about the vote, which says why it is excluded, or that it counts again.
    #[serde(default)]
    #[schema(required, example = json!(null))]
    pub decision: Option<i64>,
}

/// The side of the first model. Models are logged as they were shown, and A is shown on the left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, sqlx::Type)]
#[serde(rename_all = "lowercase")]
#[sqlx(type_name = "text", rename_all = "lowercase")]
pub enum LoggedSide {
    Left,
}

impl fmt::Display for LoggedSide {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("left")
    }
}

impl LoggedVote {
    pub const COLUMNS: [&str; 19] = [
        "id",
        "at",
        "matchup_id",
        "prompt_id",
        "model_a",
        "model_b",
        "build_a",
        "build_b",
        "choice",
        "side",
        "settings",
        "elo_a_before",
        "elo_a_after",
        "elo_b_before",
        "elo_b_after",
        "probability",
        "dwell_ms",
        "exclusion",
        "decision",
    ];

    /// Writes the vote as a line of JSON.
    pub fn write_json_line(&self, out: &mut impl io::Write) -> io::Result<()> {
        serde_json::to_writer(&mut *out, self)?;
        out.write_all(b"\n")
    }
}

/// The votes up to one moment, in the order of their ids.
#[derive(Clone, Debug)]
pub struct VoteLog {
    after: i64,
    latest: i64,
}

impl VoteLog {
    /// The votes after an id, up to another.
    pub async fn open(executor: impl PgExecutor<'_>, after: i64, through: i64) -> sqlx::Result<Self> {
        let latest = sqlx::query_scalar!(r#"SELECT coalesce(max(id), 0) AS "latest!" FROM votes"#)
            .fetch_one(executor)
            .await?;
        Ok(Self { after, latest: latest.min(through) })
    }

    /// The next page; empty at the end.
    pub async fn next(&mut self, executor: impl PgExecutor<'_>) -> sqlx::Result<Vec<LoggedVote>> {
        let votes = sqlx::query_as!(
            LoggedVote,
            r#"
            SELECT
                votes.id, at, matchup_id, matchups.prompt_id AS "prompt_id: PromptId",
                model_a AS "model_a: ModelKey", model_b AS "model_b: ModelKey",
                left_build.log_id::text AS "build_a!", right_build.log_id::text AS "build_b!",
                choice AS "choice: Choice", 'left' AS "side!: LoggedSide",
                matchups.settings, elo_a_before, elo_a_after, elo_b_before, elo_b_after, probability, dwell_ms,
                exclusion AS "exclusion: Exclusion", decision
            FROM votes
            JOIN matchups ON matchups.id = matchup_id
            JOIN builds left_build ON left_build.id = matchups.build_a
            JOIN builds right_build ON right_build.id = matchups.build_b
            WHERE votes.id > $1 AND votes.id <= $2
            ORDER BY votes.id
            LIMIT $3
            "#,
            self.after,
            self.latest,
            PAGE,
        )
        .fetch_all(executor)
        .await?;
        self.after = votes.last().map_or(self.latest, |vote| vote.id);
        Ok(votes)
    }
}
