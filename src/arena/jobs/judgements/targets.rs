//! What a judge could be asked about, and what has become of it so far.

use sqlx::PgConnection;
use uuid::Uuid;
use voxel::codec::Digest;

use super::JudgedBuilds;
use crate::arena::jobs::{JobKind, JobState};
use crate::arena::{ModelKey, PromptId, Settings};

/// Which builds a model is to judge, by which criteria. An empty list stands for all.
#[derive(Clone, Debug)]
pub struct JudgeSelection {
    pub judge: ModelKey,
    pub criteria: Digest,
    /// Pairs of builds that voters have voted on, each in both orders, instead of single builds.
    pub pairwise: bool,
    pub prompts: Vec<PromptId>,
    /// Who made the builds; of a pair, one of the two.
    pub makers: Vec<ModelKey>,
    pub settings: Settings,
}

/// A build, or a pair in one order.
#[derive(Clone, Debug)]
pub struct JudgeTarget {
    pub builds: JudgedBuilds,
    pub prompt: PromptId,
    pub prompt_text: String,
    pub maker: ModelKey,
    /// Of the build on the right.
    pub second_maker: Option<ModelKey>,
    pub state: TargetState,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TargetState {
    /// The model has not been asked, or may be asked again.
    Open,
    UnderWay(Uuid),
    /// The last job failed, or an admin cancelled it.
    Failed(Uuid),
    Judged,
}

struct TargetRow {
    first: Uuid,
    second: Option<Uuid>,
    prompt: PromptId,
    prompt_text: String,
    maker: ModelKey,
    second_maker: Option<ModelKey>,
    judged: bool,
    job: Option<Uuid>,
    state: Option<JobState>,
    forgiven: Option<bool>,
}

/// The builds in force of enabled prompts that are not withheld, prompt by prompt; or the pairs of such builds, those with
/// the most counted votes first.
pub async fn targets(
    connection: &mut PgConnection,
    selection: &JudgeSelection,
) -> sqlx::Result<Vec<JudgeTarget>> {
    let rows = match selection.pairwise {
        true => pairs(connection, selection).await?,
        false => single_builds(connection, selection).await?,
    };
    Ok(rows.into_iter().map(JudgeTarget::from).collect())
}

async fn single_builds(
    connection: &mut PgConnection,
    selection: &JudgeSelection,
) -> sqlx::Result<Vec<TargetRow>> {
    sqlx::query_as!(
        TargetRow,
        r#"
        WITH latest AS (
            SELECT DISTINCT ON (judge_jobs.build_id) judge_jobs.build_id, id, state, forgiven
            FROM judge_jobs
            JOIN jobs ON id = job_id
            WHERE kind = $1 AND model_key = $2 AND criteria = $3 AND right_build IS NULL
            ORDER BY judge_jobs.build_id, wanted_at DESC, id DESC
        )
        SELECT
            builds.id AS first, NULL::uuid AS second, prompt_id AS "prompt: PromptId", text AS prompt_text,
            builds.model_key AS "maker: ModelKey", NULL::text AS "second_maker: ModelKey",
            EXISTS (
                SELECT FROM judgements
                WHERE judgements.build_id = builds.id AND criteria = $3 AND judgements.model_key = $2
            ) AS "judged!",
            latest.id AS "job?", latest.state AS "state?: JobState", latest.forgiven AS "forgiven?"
        FROM builds
        JOIN prompts ON prompts.id = prompt_id AND active
        LEFT JOIN latest ON latest.build_id = builds.id
        WHERE retired_at IS NULL AND NOT withheld AND settings = $4
          AND (cardinality($5::text[]) = 0 OR prompt_id = ANY ($5))
          AND (cardinality($6::text[]) = 0 OR builds.model_key = ANY ($6))
        ORDER BY prompt_id, builds.model_key
        "#,
        JobKind::Judge as _,
        selection.judge as _,
        &selection.criteria.0[..],
        selection.settings as _,
        selection.prompts as _,
        selection.makers as _,
    )
    .fetch_all(connection)
    .await
}

async fn pairs(connection: &mut PgConnection, selection: &JudgeSelection) -> sqlx::Result<Vec<TargetRow>> {
    sqlx::query_as!(
        TargetRow,
        r#"
        WITH voted AS (
            SELECT
                least(build_a, build_b) AS one, greatest(build_a, build_b) AS other,
                sum(a + b + tie + both_bad) AS votes
            FROM tallies
            GROUP BY 1, 2
            HAVING sum(a + b + tie + both_bad) > 0
        ), latest AS (
            SELECT DISTINCT ON (judge_jobs.build_id, right_build)
                judge_jobs.build_id, right_build, id, state, forgiven
            FROM judge_jobs
            JOIN jobs ON id = job_id
            WHERE kind = $1 AND model_key = $2 AND criteria = $3 AND right_build IS NOT NULL
            ORDER BY judge_jobs.build_id, right_build, wanted_at DESC, id DESC
        )
        SELECT
            first.id AS first, second.id AS "second?", first.prompt_id AS "prompt: PromptId", text AS prompt_text,
            first.model_key AS "maker: ModelKey", second.model_key AS "second_maker?: ModelKey",
            EXISTS (
                SELECT FROM judge_votes
                WHERE left_build = first.id AND judge_votes.right_build = second.id AND criteria = $3
                  AND judge_votes.model_key = $2
            ) AS "judged!",
            latest.id AS "job?", latest.state AS "state?: JobState", latest.forgiven AS "forgiven?"
        FROM voted
        CROSS JOIN LATERAL (VALUES (one, other, 1), (other, one, 2)) AS shown (first, second, turn)
        JOIN builds AS first ON first.id = shown.first AND first.retired_at IS NULL AND NOT first.withheld
        JOIN builds AS second
            ON second.id = shown.second AND second.retired_at IS NULL AND NOT second.withheld
            AND second.prompt_id = first.prompt_id AND second.settings = first.settings
        JOIN prompts ON prompts.id = first.prompt_id AND active
        LEFT JOIN latest ON latest.build_id = first.id AND latest.right_build = second.id
        WHERE first.settings = $4
          AND (cardinality($5::text[]) = 0 OR first.prompt_id = ANY ($5))
          AND (cardinality($6::text[]) = 0 OR first.model_key = ANY ($6) OR second.model_key = ANY ($6))
        ORDER BY votes DESC, one, other, turn
        "#,
        JobKind::Judge as _,
        selection.judge as _,
        &selection.criteria.0[..],
        selection.settings as _,
        selection.prompts as _,
        selection.makers as _,
    )
    .fetch_all(connection)
    .await
}

/// What judging a build, or a pair in one order, has cost a model on average, in millionths of a dollar, over the jobs whose
/// cost is fully known. None if there are none.
pub async fn typical_cost(
    connection: &mut PgConnection,
    judge: &ModelKey,
    pairwise: bool,
) -> sqlx::Result<Option<u64>> {
    let average = sqlx::query_scalar!(
        "
        WITH priced AS (
            SELECT sum(cost / price_part) AS cost
            FROM jobs
            JOIN judge_jobs ON judge_jobs.job_id = jobs.id
            JOIN attempts ON attempts.job_id = jobs.id
            WHERE kind = $1 AND model_key = $2 AND (right_build IS NOT NULL) = $3 AND state IN ('ready', 'failed')
            GROUP BY jobs.id
            HAVING count(*) = count(cost) AND NOT bool_or(cost_is_minimum)
                AND (state = 'ready' OR sum(cost) > 0)
        )
        SELECT round(avg(cost))::bigint
        FROM priced
        ",
        JobKind::Judge as _,
        judge as _,
        pairwise,
    )
    .fetch_one(connection)
    .await?;
    Ok(average.map(i64::unsigned_abs))
}

impl From<TargetRow> for JudgeTarget {
    fn from(row: TargetRow) -> Self {
        let state = match (row.judged, row.job, row.state) {
            (true, ..) => TargetState::Judged,
            (false, Some(job), Some(JobState::Queued | JobState::Running)) => TargetState::UnderWay(job),
            (false, Some(job), Some(JobState::Failed | JobState::Cancelled))
                if row.forgiven != Some(true) =>
            {
                TargetState::Failed(job)
            }
            _ => TargetState::Open,
        };
        Self {
            builds: JudgedBuilds::of(row.first, row.second),
            prompt: row.prompt,
            prompt_text: row.prompt_text,
            maker: row.maker,
            second_maker: row.second_maker,
            state,
        }
    }
}
