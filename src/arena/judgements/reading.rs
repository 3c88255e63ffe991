//! What was said of a build, and what a person has said. Only what counts is read, by the present criteria, and nothing of
//! a build that is withheld.

use std::collections::BTreeMap;

use sqlx::PgExecutor;
use sqlx::types::Json;
use time::OffsetDateTime;
use uuid::Uuid;

use super::PersonScores;
use crate::arena::{Arena, ModelKey, Voter};
use crate::judge::criteria::{CriteriaText, Criterion};
use crate::judge::scores::Scores;

/// All judgements of a build that count.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BuildJudgements {
    /// Of each model, by its name.
    pub models: Vec<ModelJudgement>,
    pub people: PeopleJudgements,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ModelJudgement {
    pub key: ModelKey,
    pub name: String,
    pub at: OffsetDateTime,
    pub scores: Scores,
    pub overall: f64,
    /// What each score rests on.
    pub evidence: BTreeMap<Criterion, String>,
    pub note: Option<String>,
}

/// What people say of a build together. What a single person wrote is shown to nobody else.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PeopleJudgements {
    /// How many people have judged it.
    pub count: i64,
    /// None if nobody has.
    pub overall: Option<ScoreSpread>,
    /// By the criteria that anybody has scored.
    pub scores: BTreeMap<Criterion, ScoreSpread>,
}

/// Several people's scores for one criterion.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScoreSpread {
    pub count: i64,
    pub mean: f64,
    /// The standard deviation; 0 for a single score.
    pub spread: f64,
}

/// A person's own judgement.
#[derive(Clone, Debug, PartialEq)]
pub struct OwnJudgement {
    pub at: OffsetDateTime,
    pub said: PersonScores,
    pub overall: f64,
}

/// How many builds a person has judged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OwnJudgementCounts {
    pub all: i64,
    /// Since midnight, in UTC.
    pub today: i64,
}

/// Which people's judgements are shown to somebody.
#[derive(Clone, Copy)]
struct PeopleSelection {
    /// A person whose own is left out.
    without: Option<Voter>,
    until: Option<OffsetDateTime>,
}

async fn models_of(executor: impl PgExecutor<'_>, build: Uuid) -> sqlx::Result<Vec<ModelJudgement>> {
    let rows = sqlx::query!(
        r#"
        SELECT
            key AS "key: ModelKey", display_name AS name, at, task_progress, material_usage, action_control,
            efficiency, error_recognition, creative_attempts, overall,
            evidence AS "evidence: Json<BTreeMap<String, String>>", note
        FROM judgements
        JOIN models ON models.key = judgements.model_key
        JOIN builds ON builds.id = build_id
        WHERE build_id = $1 AND criteria = $2 AND judgements.model_key IS NOT NULL AND NOT withheld
        ORDER BY display_name, key
        "#,
        build,
        &CriteriaText::build().digest().0[..],
    )
    .fetch_all(executor)
    .await?;
    let models = rows.into_iter().map(|row| ModelJudgement {
        key: row.key,
        name: row.name,
        at: row.at,
        scores: scores([
            row.task_progress,
            row.material_usage,
            row.action_control,
            row.efficiency,
            row.error_recognition,
            row.creative_attempts,
        ]),
        overall: row.overall,
        evidence: by_criterion(row.evidence.0),
        note: row.note,
    });
    Ok(models.collect())
}

async fn people_of(
    executor: impl PgExecutor<'_>,
    build: Uuid,
    PeopleSelection { without, until }: PeopleSelection,
) -> sqlx::Result<PeopleJudgements> {
    let rows = sqlx::query!(
        r#"
        SELECT
            criterion AS "criterion!", count(*) AS "count!", avg(score) AS "mean!",
            coalesce(stddev_samp(score), 0) AS "spread!"
        FROM judgements
        JOIN builds ON builds.id = build_id
        CROSS JOIN LATERAL (VALUES
            ('overall', overall), ('task_progress', task_progress), ('material_usage', material_usage),
            ('action_control', action_control), ('efficiency', efficiency),
            ('error_recognition', error_recognition), ('creative_attempts', creative_attempts)
        ) AS given (criterion, score)
        WHERE build_id = $1 AND criteria = $2 AND voter_id IS NOT NULL AND exclusion IS NULL AND NOT withheld
          AND ($3::uuid IS NULL OR voter_id <> $3) AND ($4::timestamptz IS NULL OR at <= $4) AND score IS NOT NULL
        GROUP BY criterion
        "#,
        build,
        &CriteriaText::build().digest().0[..],
        without.map(|voter| voter.0),
        until,
    )
    .fetch_all(executor)
    .await?;
    let mut people = PeopleJudgements::default();
    for row in rows {
        let spread = ScoreSpread { count: row.count, mean: row.mean, spread: row.spread };
        match row.criterion.parse() {
            Ok(criterion) => drop(people.scores.insert(criterion, spread)),
            Err(_) => (people.count, people.overall) = (row.count, Some(spread)),
        }
    }
    Ok(people)
}

impl Arena {
    /// All judgements of a build that count and that results may show; those of a withheld build are none. As with votes,
    /// nobody sees at once what a flood of people's judgements does.
    pub async fn shown_judgements(&self, build: Uuid) -> sqlx::Result<BuildJudgements> {
        let people = PeopleSelection { without: None, until: self.judgements_shown_until() };
        Ok(BuildJudgements {
            models: models_of(&self.replica, build).await?,
            people: people_of(&self.replica, build, people).await?,
        })
    }

    /// What a judgement of the build reveals to its voter: all others that count by now.
    pub async fn others_judgements(&self, voter: Voter, build: Uuid) -> sqlx::Result<BuildJudgements> {
        let people = PeopleSelection { without: Some(voter), until: None };
        Ok(BuildJudgements {
            models: models_of(&self.pool, build).await?,
            people: people_of(&self.pool, build, people).await?,
        })
    }

    /// What this voter has said of a build by the present criteria.
    pub async fn own_judgement(&self, voter: Voter, build: Uuid) -> sqlx::Result<Option<OwnJudgement>> {
        let row = sqlx::query!(
            r#"
            SELECT
                at, task_progress, material_usage, action_control, efficiency, error_recognition,
                creative_attempts, overall, evidence AS "evidence: Json<BTreeMap<String, String>>", note
            FROM judgements
            JOIN builds ON builds.id = build_id
            WHERE build_id = $1 AND criteria = $2 AND voter_id = $3 AND NOT withheld
            "#,
            build,
            &CriteriaText::build().digest().0[..],
            voter.0,
        )
        .fetch_optional(&self.pool)
        .await?;
        Ok(row.map(|row| OwnJudgement {
            at: row.at,
            said: PersonScores {
                scores: scores([
                    row.task_progress,
                    row.material_usage,
                    row.action_control,
                    row.efficiency,
                    row.error_recognition,
                    row.creative_attempts,
                ]),
                evidence: by_criterion(row.evidence.0),
                note: row.note,
            },
            overall: row.overall,
        }))
    }

    pub async fn own_judgement_counts(&self, voter: Voter) -> sqlx::Result<OwnJudgementCounts> {
        sqlx::query_as!(
            OwnJudgementCounts,
            r#"
            SELECT
                count(*) AS "all!",
                count(*) FILTER (WHERE at >= date_trunc('day', now(), 'UTC')) AS "today!"
            FROM judgements
            WHERE voter_id = $1
            "#,
            voter.0,
        )
        .fetch_one(&self.pool)
        .await
    }
}

/// In the order of [`Criterion::ALL`].
fn scores(given: [Option<f64>; 6]) -> Scores {
    Criterion::ALL.into_iter().zip(given).filter_map(|(criterion, score)| Some((criterion, score?))).collect()
}

/// Without what stands under names that are none of the criteria's.
fn by_criterion(texts: BTreeMap<String, String>) -> BTreeMap<Criterion, String> {
    texts.into_iter().filter_map(|(key, text)| Some((key.parse().ok()?, text))).collect()
}
