//! Storing judgements of people. One transaction makes all changes of a judgement, or none.
//!
//! **Order of locks.** The transaction first claims the judging, then locks the build against being withheld or retired,
//! then takes its place in the log, and adds to the budgets last, as votes do.

use std::time::Duration;

use sqlx::types::Json;
use sqlx::{Connection, PgConnection};
use time::OffsetDateTime;
use uuid::Uuid;

use super::{JudgingError, SentJudgement};
use crate::arena::votes::Exclusion;
use crate::arena::votes::budgets::{BudgetUse, VoteOrigin};
use crate::arena::votes::network_keys::NetworkDigest;
use crate::arena::{Arena, Voter, judgement_log};
use crate::client_network::ClientNetwork;
use crate::judge::criteria::{CriteriaText, Criterion};
use crate::judge::scores::Revision;

impl Arena {
    /// Stores a person's judgement of the build of an open judging, and returns the build. The answer is the same
    /// whether or not the judgement counts.
    pub async fn judge(&self, sent: SentJudgement) -> Result<Uuid, JudgingError> {
        let criteria = CriteriaText::build().applicable();
        let scores = sent.said.scores.only(criteria);
        let overall = scores.overall(criteria, Revision::Mcu1).ok_or(JudgingError::NoScores)?;
        let now = OffsetDateTime::now_utc();
        let mut connection = self.pool.acquire().await?;
        let key = self.network_keys.of_day(&mut connection, now.date()).await?;
        let mut transaction = connection.begin().await?;
        let Some(build) = self.claim_judging(&mut transaction, sent.voter, sent.judging).await? else {
            transaction.rollback().await?;
            return Err(self.judging_error(sent.voter, sent.judging).await?);
        };
        if !lock_judgeable(&mut transaction, build).await? {
            return Err(JudgingError::Over);
        }
        let networks = ClientNetwork::all(sent.address).map(|network| key.digest(network)).collect();
        let origin = VoteOrigin { voter: sent.voter, networks };
        let mut budgets =
            BudgetUse::read(&mut transaction, self.vote_budgets, [&origin].into_iter(), now).await?;
        let exclusion = budgets.judge(&origin, &[]);
        let stored = StoredJudgement { build, sent: &sent, overall, exclusion, network: origin.network() };
        judgement_log::hold_order(&mut transaction).await?;
        if !stored.insert(&mut transaction).await? {
            // The judging stays closed: it was opened again while the build was being judged.
            transaction.commit().await?;
            return Err(JudgingError::AlreadyJudged(build));
        }
        budgets.store(&mut transaction).await?;
        transaction.commit().await?;
        Ok(build)
    }

    /// Closes a judging. Of two judgements at the same time, the second one finds it closed. A build that has come up in
    /// the voter's open matchup meanwhile waits for the vote, since the answer to the judgement tells who built it.
    async fn claim_judging(
        &self,
        connection: &mut PgConnection,
        voter: Voter,
        judging: Uuid,
    ) -> sqlx::Result<Option<Uuid>> {
        sqlx::query_scalar!(
            "
            UPDATE open_judgings
            SET expires_at = clock_timestamp()
            WHERE voter_id = $1 AND id = $2 AND criteria = $3 AND expires_at > clock_timestamp()
              AND ($4 = 0 OR extract(epoch FROM clock_timestamp() - fetched_at) * 1000 >= $4)
              AND NOT EXISTS (
                  SELECT FROM open_matchups
                  JOIN matchups ON matchups.id = matchup_id
                  WHERE open_matchups.voter_id = $1 AND open_matchups.expires_at > clock_timestamp()
                    AND open_judgings.build_id IN (build_a, build_b)
              )
            RETURNING build_id
            ",
            voter.0,
            judging,
            &CriteriaText::build().digest().0[..],
            i64::try_from(self.min_dwell.as_millis()).unwrap_or(i64::MAX) as _,
        )
        .fetch_optional(connection)
        .await
    }

    /// Why a judging could not be claimed.
    async fn judging_error(&self, voter: Voter, judging: Uuid) -> sqlx::Result<JudgingError> {
        let row = sqlx::query!(
            r#"
            SELECT
                build_id, expires_at > clock_timestamp() AND open_judgings.criteria = $3 AS "open!",
                extract(epoch FROM clock_timestamp() - fetched_at)::float8 AS looked,
                EXISTS (
                    SELECT FROM judgements
                    WHERE judgements.build_id = open_judgings.build_id AND judgements.criteria = $3
                      AND judgements.voter_id = $1
                ) AS "judged!",
                EXISTS (
                    SELECT FROM open_matchups
                    JOIN matchups ON matchups.id = matchup_id
                    WHERE open_matchups.voter_id = $1 AND open_matchups.expires_at > clock_timestamp()
                      AND open_judgings.build_id IN (build_a, build_b)
                ) AS "in_matchup!"
            FROM open_judgings
            WHERE voter_id = $1 AND id = $2
            "#,
            voter.0,
            judging,
            &CriteriaText::build().digest().0[..],
        )
        .fetch_optional(&self.pool)
        .await?;
        Ok(match row {
            None => JudgingError::Unknown,
            Some(row) if row.judged => JudgingError::AlreadyJudged(row.build_id),
            Some(row) if !row.open => JudgingError::Over,
            Some(row) if row.in_matchup => JudgingError::InMatchup,
            Some(row) => {
                let looked = Duration::try_from_secs_f64(row.looked.unwrap_or_default()).unwrap_or_default();
                JudgingError::TooSoon(self.min_dwell.saturating_sub(looked))
            }
        })
    }
}

/// Keeps a build from being withheld or retired until the judgement is stored. Returns false if it is so already.
async fn lock_judgeable(connection: &mut PgConnection, build: Uuid) -> sqlx::Result<bool> {
    let found = sqlx::query_scalar!(
        "SELECT id FROM builds WHERE id = $1 AND retired_at IS NULL AND NOT withheld FOR NO KEY UPDATE",
        build,
    )
    .fetch_optional(connection)
    .await?;
    Ok(found.is_some())
}

/// A judgement with all that is stored of it.
struct StoredJudgement<'a> {
    build: Uuid,
    sent: &'a SentJudgement,
    overall: f64,
    exclusion: Option<Exclusion>,
    network: Option<NetworkDigest>,
}

impl StoredJudgement<'_> {
    /// Returns false if the voter has judged the build before.
    async fn insert(&self, connection: &mut PgConnection) -> sqlx::Result<bool> {
        let Self { build, sent, overall, exclusion, network } = self;
        let criteria = CriteriaText::build();
        let score = |criterion: Criterion| {
            criteria.applies(criterion).then(|| sent.said.scores.get(criterion)).flatten()
        };
        let inserted = sqlx::query!(
            "
            WITH added AS (
                INSERT INTO judgements (
                    build_id, criteria, voter_id, task_progress, material_usage, action_control, efficiency,
                    error_recognition, creative_attempts, overall, evidence, note, network, exclusion
                )
                VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
                ON CONFLICT DO NOTHING
                RETURNING build_id, exclusion
            ),
            counted AS (
                UPDATE builds
                SET people_judgements = people_judgements + 1
                FROM added
                WHERE builds.id = added.build_id AND added.exclusion IS NULL
            )
            SELECT build_id FROM added
            ",
            build,
            &criteria.digest().0[..],
            sent.voter.0,
            score(Criterion::TaskProgress),
            score(Criterion::MaterialUsage),
            score(Criterion::ActionControl),
            score(Criterion::Efficiency),
            score(Criterion::ErrorRecognition),
            score(Criterion::CreativeAttempts),
            overall,
            Json(&sent.said.evidence) as _,
            sent.said.note,
            network.map(|network| network.0.to_vec()),
            exclusion as _,
        )
        .fetch_optional(connection)
        .await?;
        Ok(inserted.is_some())
    }
}
