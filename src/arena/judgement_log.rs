//! The log of judgements: what models and people have said of builds, and which of two builds models prefer, with
//! nothing about the people. [`crate::judge::log`] defines its lines.
//!
//! Judgements and the votes of judges share one sequence of ids, and the log has them in its order. As with the vote
//! log, it is read page by page, nothing is held in between, and it ends at the largest id that was committed when it
//! was opened. Judgements are committed in the order of their ids, so whoever has read up to an id misses none before
//! it. Builds that are withheld are not in it, and where results are delayed, neither are late judgements.

use std::collections::BTreeMap;

use sqlx::types::Json;
use sqlx::{PgConnection, PgExecutor};
use time::{Duration, OffsetDateTime};
use voxel::codec::Digest;

use super::{Arena, Choice, Exclusion, ModelKey, PromptId};
use crate::judge::Judge;
use crate::judge::criteria::Criterion;
use crate::judge::log::{
    JudgementContent, LoggedBuild, LoggedJudge, LoggedJudgement, LoggedPair, LoggedScores,
};
use crate::judge::scores::Scores;

/// Judgements per page, some 300 kB as text.
const PAGE: usize = 300;

/// Whoever stores a judgement holds this from before it gets its id until it is committed.
const ORDER_LOCK: i64 = 0x6a6c_6f67_0000_0000;

/// The judgements between two ids.
#[derive(Clone, Debug)]
pub struct JudgementLog {
    after: i64,
    latest: i64,
}

impl Arena {
    /// The judgements after an id, up to the latest one that results may show.
    pub async fn judgement_log(&self, after: i64) -> sqlx::Result<JudgementLog> {
        let latest = latest(&self.replica, self.judgements_shown_until()).await?;
        Ok(JudgementLog { after, latest })
    }

    /// None without a delay of results. With one, it changes once a minute.
    pub(super) fn judgements_shown_until(&self) -> Option<OffsetDateTime> {
        let until =
            OffsetDateTime::now_utc() - Duration::try_from(self.results_delay).unwrap_or(Duration::ZERO);
        (!self.results_delay.is_zero()).then(|| until.truncate_to_minute())
    }
}

/// Keeps others from storing judgements until the transaction ends. It comes after the locks of jobs and builds, and before
/// those of budgets.
pub(super) async fn hold_order(connection: &mut PgConnection) -> sqlx::Result<()> {
    sqlx::query!("SELECT pg_advisory_xact_lock($1)", ORDER_LOCK).execute(connection).await?;
    Ok(())
}

/// The largest id of a judgement up to a time; 0 if there is none.
pub(super) async fn latest(
    executor: impl PgExecutor<'_>,
    until: Option<OffsetDateTime>,
) -> sqlx::Result<i64> {
    sqlx::query_scalar!(
        r#"
        SELECT greatest(
            (SELECT id FROM judgements WHERE $1::timestamptz IS NULL OR at <= $1 ORDER BY id DESC LIMIT 1),
            (SELECT id FROM judge_votes WHERE $1::timestamptz IS NULL OR at <= $1 ORDER BY id DESC LIMIT 1),
            0
        ) AS "latest!"
        "#,
        until,
    )
    .fetch_one(executor)
    .await
}

impl JudgementLog {
    /// The next page; empty at the end.
    pub async fn next(&mut self, connection: &mut PgConnection) -> sqlx::Result<Vec<LoggedJudgement>> {
        let mut page = self.scores(&mut *connection).await?;
        page.extend(self.pairs(connection).await?);
        // Each of the two has all of its own up to the end of the merged page.
        page.sort_unstable_by_key(|judgement| judgement.id);
        page.truncate(PAGE);
        self.after = page.last().map_or(self.latest, |judgement| judgement.id);
        Ok(page)
    }

    async fn scores(&self, connection: &mut PgConnection) -> sqlx::Result<Vec<LoggedJudgement>> {
        let rows = sqlx::query!(
            r#"
            SELECT
                judgements.id, at, judgements.model_key AS "judge: ModelKey", judges.provider AS "provider?",
                builds.prompt_id AS "prompt_id: PromptId", settings, criteria,
                log_id, builds.model_key AS "model: ModelKey", makers.provider AS maker_provider, block_count,
                task_progress, material_usage, action_control, efficiency, error_recognition, creative_attempts,
                overall, evidence AS "evidence: Json<BTreeMap<String, String>>", note,
                tokens_in, tokens_out, cost, exclusion AS "exclusion: Exclusion", decision
            FROM judgements
            JOIN builds ON builds.id = build_id
            JOIN models makers ON makers.key = builds.model_key
            LEFT JOIN models judges ON judges.key = judgements.model_key
            LEFT JOIN LATERAL (
                SELECT
                    sum(input_tokens)::bigint AS tokens_in, sum(output_tokens)::bigint AS tokens_out,
                    sum(attempts.cost)::bigint AS cost
                FROM attempts
                WHERE attempts.job_id = judgements.job_id
            ) used ON true
            WHERE judgements.id > $1 AND judgements.id <= $2 AND NOT withheld
            ORDER BY judgements.id
            LIMIT $3
            "#,
            self.after,
            self.latest,
            PAGE as i64,
        )
        .fetch_all(connection)
        .await?;
        let judgements = rows.into_iter().map(|row| {
            let scores = scores([
                row.task_progress,
                row.material_usage,
                row.action_control,
                row.efficiency,
                row.error_recognition,
                row.creative_attempts,
            ]);
            let build = LoggedBuild {
                id: row.log_id,
                model: row.model,
                provider: row.maker_provider,
                blocks: u64::from(row.block_count.unsigned_abs()),
            };
            // What people write is for nobody else.
            let (evidence, note) = match row.judge {
                Some(_) => (by_criterion(row.evidence.0), row.note),
                None => (BTreeMap::new(), None),
            };
            LoggedJudgement {
                id: row.id,
                at: row.at,
                judge: judge(row.judge, row.provider),
                prompt_id: row.prompt_id,
                settings: row.settings,
                criteria: hexadecimal(&row.criteria),
                content: JudgementContent::Scores(LoggedScores {
                    build,
                    scores,
                    evidence,
                    note,
                    overall: Some(row.overall),
                }),
                tokens_in: row.tokens_in,
                tokens_out: row.tokens_out,
                cost_micro_dollars: row.cost,
                exclusion: row.exclusion,
                decision: row.decision,
            }
        });
        Ok(judgements.collect())
    }

    async fn pairs(&self, connection: &mut PgConnection) -> sqlx::Result<Vec<LoggedJudgement>> {
        let rows = sqlx::query!(
            r#"
            SELECT
                judge_votes.id, at, judge_votes.model_key AS "judge: ModelKey", judges.provider,
                lefts.prompt_id AS "prompt_id: PromptId", lefts.settings, criteria,
                lefts.log_id AS left_id, lefts.model_key AS "left_model: ModelKey",
                left_models.provider AS left_provider, lefts.block_count AS left_blocks,
                rights.log_id AS right_id, rights.model_key AS "right_model: ModelKey",
                right_models.provider AS right_provider, rights.block_count AS right_blocks,
                choice AS "choice: Choice", reason, tokens_in, tokens_out, cost
            FROM judge_votes
            JOIN models judges ON judges.key = judge_votes.model_key
            JOIN builds lefts ON lefts.id = left_build
            JOIN models left_models ON left_models.key = lefts.model_key
            JOIN builds rights ON rights.id = right_build
            JOIN models right_models ON right_models.key = rights.model_key
            LEFT JOIN LATERAL (
                SELECT
                    sum(input_tokens)::bigint AS tokens_in, sum(output_tokens)::bigint AS tokens_out,
                    sum(attempts.cost)::bigint AS cost
                FROM attempts
                WHERE attempts.job_id = judge_votes.job_id
            ) used ON true
            WHERE judge_votes.id > $1 AND judge_votes.id <= $2 AND NOT lefts.withheld AND NOT rights.withheld
            ORDER BY judge_votes.id
            LIMIT $3
            "#,
            self.after,
            self.latest,
            PAGE as i64,
        )
        .fetch_all(connection)
        .await?;
        let judgements = rows.into_iter().map(|row| LoggedJudgement {
            id: row.id,
            at: row.at,
            judge: judge(Some(row.judge), Some(row.provider)),
            prompt_id: row.prompt_id,
            settings: row.settings,
            criteria: hexadecimal(&row.criteria),
            content: JudgementContent::Pair(LoggedPair {
                left: LoggedBuild {
                    id: row.left_id,
                    model: row.left_model,
                    provider: row.left_provider,
                    blocks: u64::from(row.left_blocks.unsigned_abs()),
                },
                right: LoggedBuild {
                    id: row.right_id,
                    model: row.right_model,
                    provider: row.right_provider,
                    blocks: u64::from(row.right_blocks.unsigned_abs()),
                },
                choice: row.choice,
                reason: row.reason,
            }),
            tokens_in: row.tokens_in,
            tokens_out: row.tokens_out,
            cost_micro_dollars: row.cost,
            exclusion: None,
            decision: None,
        });
        Ok(judgements.collect())
    }
}

/// The model that has judged, or else people.
fn judge(model: Option<ModelKey>, provider: Option<String>) -> LoggedJudge {
    let Judge { kind, key } = model.map_or_else(Judge::people, |model| Judge::model(model.as_str()));
    LoggedJudge { kind, key, provider }
}

/// In the order of [`Criterion::ALL`].
fn scores(given: [Option<f64>; 6]) -> Scores {
    Criterion::ALL.into_iter().zip(given).filter_map(|(criterion, score)| Some((criterion, score?))).collect()
}

/// Without what stands under names that are none of the criteria's.
fn by_criterion(texts: BTreeMap<String, String>) -> BTreeMap<Criterion, String> {
    texts.into_iter().filter_map(|(key, text)| Some((key.parse().ok()?, text))).collect()
}

fn hexadecimal(digest: &[u8]) -> String {
    digest.try_into().map(|bytes| Digest(bytes).to_string()).unwrap_or_default()
}
