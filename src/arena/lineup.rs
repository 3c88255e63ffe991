//! The lineup: in each active prompt, the builds in force of enabled models, except those of models that have built too
//! few of the prompts yet.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use sqlx::{PgExecutor, PgPool};
use tokio::sync::Mutex;
use tokio::time::timeout;

use super::sampling::{Contest, Entrant};
use super::{ModelKey, PromptFilter, PromptId, Settings};

/// Whether reference models take part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReferencePolicy {
    /// In prompts that fewer than two other models have built.
    Auto,
    On,
    Off,
}

/// All who need the lineup wait while it is read, so reading must not take for ever.
const READ_TIMEOUT: Duration = Duration::from_secs(10);

/// The prompts in which there is something to compare.
#[derive(Debug, Default)]
pub struct Lineup {
    contests: HashMap<PromptId, Contest>,
    /// Enabled models with a build in force of an active prompt, whether or not they can meet another model. Without
    /// those that wait.
    pub builders: HashSet<ModelKey>,
    /// By their keys.
    pub waiting: Vec<WaitingModel>,
    /// The tags by which this ladder can be filtered: those of all prompts that ever had a build, sorted.
    pub tags: Vec<String>,
    /// Whether a prompt is held out that ever had a build.
    pub has_held_out: bool,
}

/// A model whose builds are not voted on, because it has built too few of the active prompts: results on some of them
/// would say less than they seem to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitingModel {
    pub model: ModelKey,
    /// Of active prompts, in force.
    pub builds: usize,
    /// The builds with which it takes part.
    pub needed: usize,
}

/// What a ladder can be filtered by.
#[derive(Debug, Default)]
struct PromptGroups {
    tags: Vec<String>,
    has_held_out: bool,
}

impl Lineup {
    pub fn contests(&self) -> impl Iterator<Item = &Contest> {
        self.contests.values()
    }

    pub fn contest(&self, prompt: &PromptId) -> Option<&Contest> {
        self.contests.get(prompt)
    }

    /// Whether prompts of this ladder can match a filter.
    pub fn may_match(&self, PromptFilter { tag, held_out }: &PromptFilter) -> bool {
        tag.as_ref().is_none_or(|tag| self.tags.contains(tag))
            && (*held_out != Some(true) || self.has_held_out)
    }

    /// From all contests, before models are left to wait and the policy for reference models is applied.
    fn of(
        mut contests: Vec<Contest>,
        waiting: Vec<WaitingModel>,
        groups: PromptGroups,
        references: ReferencePolicy,
    ) -> Self {
        let waits = |entrant: &Entrant| waiting.iter().any(|waiting| waiting.model == entrant.model);
        for contest in &mut contests {
            contest.entrants.retain(|entrant| !waits(entrant));
        }
        let entrants = contests.iter().flat_map(|contest| &contest.entrants);
        let builders = entrants.map(|entrant| entrant.model.clone()).collect();
        let admitted = contests.into_iter().map(|contest| apply_policy(contest, references));
        let comparable = admitted.filter(|contest| contest.entrants.len() > 1);
        let contests = comparable.map(|contest| (contest.prompt.clone(), contest)).collect();
        let PromptGroups { tags, has_held_out } = groups;
        Self { contests, builders, waiting, tags, has_held_out }
    }
}

/// Of how many active prompts a model must have a build to take part.
fn builds_needed(active_prompts: i64, percent: u32) -> i64 {
    let percents = u64::try_from(active_prompts).unwrap_or_default().saturating_mul(u64::from(percent));
    i64::try_from(percents.div_ceil(100)).unwrap_or(i64::MAX)
}

fn apply_policy(mut contest: Contest, references: ReferencePolicy) -> Contest {
    let others = contest.entrants.iter().filter(|entrant| !entrant.is_reference).count();
    let make_room = match references {
        ReferencePolicy::Auto => others > 1,
        ReferencePolicy::On => false,
        ReferencePolicy::Off => true,
    };
    contest.entrants.retain(|entrant| !(make_room && entrant.is_reference));
    contest
}

/// The lineup, read again only when the catalog has changed.
pub(super) struct LineupCache {
    pub references: ReferencePolicy,
    /// Of the active prompts, how much a model must have built to take part.
    cohort_percent: u32,
    latest: RwLock<Option<(i64, Arc<Lineup>)>>,
    /// Locked while it is read again; others wait.
    reading: Arc<Mutex<()>>,
}

impl LineupCache {
    pub fn new(references: ReferencePolicy, cohort_percent: u32) -> Self {
        Self { references, cohort_percent, latest: RwLock::new(None), reading: Arc::default() }
    }

    /// The lineup as of a revision of the catalog, or later.
    pub async fn at_revision(
        self: &Arc<Self>,
        revision: i64,
        pool: &PgPool,
        settings: &Settings,
    ) -> sqlx::Result<Arc<Lineup>> {
        if let Some(lineup) = self.cached(revision) {
            return Ok(lineup);
        }
        let reading = Arc::clone(&self.reading).lock_owned().await;
        if let Some(lineup) = self.cached(revision) {
            return Ok(lineup);
        }
        // The visitor may leave. Then the next one finds what was read, instead of a query that was broken off.
        let (this, pool, settings) = (Arc::clone(self), pool.clone(), settings.clone());
        let read = tokio::spawn(async move {
            let _reading = reading;
            let read = timeout(READ_TIMEOUT, this.read(&pool, &settings)).await;
            let lineup = Arc::new(read.unwrap_or(Err(sqlx::Error::PoolTimedOut))?);
            // It was read after the revision, so it may already contain a later change. Then it is read once more than
            // necessary, but it is never out of date.
            let latest = Some((revision, Arc::clone(&lineup)));
            *this.latest.write().unwrap_or_else(PoisonError::into_inner) = latest;
            Ok(lineup)
        });
        read.await.unwrap_or_else(|lost| Err(sqlx::Error::Protocol(lost.to_string())))
    }

    async fn read(&self, pool: &PgPool, settings: &Settings) -> sqlx::Result<Lineup> {
        let contests = contests(pool, settings).await?;
        let waiting = waiting_models(pool, settings, self.cohort_percent).await?;
        let groups = prompt_groups(pool, settings).await?;
        Ok(Lineup::of(contests, waiting, groups, self.references))
    }

    fn cached(&self, revision: i64) -> Option<Arc<Lineup>> {
        let latest = self.latest.read().unwrap_or_else(PoisonError::into_inner).clone();
        latest.filter(|(known, _)| *known >= revision).map(|(_, lineup)| lineup)
    }
}

/// A number that changes whenever the lineup may have changed.
pub(super) async fn revision(executor: impl PgExecutor<'_>) -> sqlx::Result<i64> {
    sqlx::query_scalar!("SELECT catalog_revision FROM installation").fetch_one(executor).await
}

/// Active prompts with the builds in force of enabled models, at these settings.
async fn contests(pool: &PgPool, settings: &Settings) -> sqlx::Result<Vec<Contest>> {
    let rows = sqlx::query!(
        r#"
        SELECT
            prompts.id AS "prompt: PromptId", prompts.text,
            array_agg(builds.id ORDER BY model_key) AS "builds!",
            array_agg(model_key ORDER BY model_key) AS "models!: Vec<ModelKey>",
            array_agg(provider = 'reference' ORDER BY model_key) AS "references!"
        FROM prompts
        JOIN builds ON prompt_id = prompts.id AND retired_at IS NULL
        JOIN models ON models.key = model_key AND enabled
        WHERE active AND settings = $1
        GROUP BY prompts.id
        ORDER BY prompts.id
        "#,
        settings as _,
    )
    .fetch_all(pool)
    .await?;
    let ladder = settings.slug();
    let contests = rows.into_iter().map(|row| {
        let entrants = row.builds.into_iter().zip(row.models).zip(row.references);
        let entrant = |((build, model), is_reference)| Entrant { model, build, is_reference };
        Contest::new(&ladder, row.prompt, row.text, entrants.map(entrant).collect())
    });
    Ok(contests.collect())
}

/// Enabled models that have built too few of the active prompts. One with a vote on a build in force has been shown, and
/// stays when prompts are added. Reference models never wait: they ship whole.
async fn waiting_models(pool: &PgPool, settings: &Settings, percent: u32) -> sqlx::Result<Vec<WaitingModel>> {
    let active_prompts = sqlx::query_scalar!(r#"SELECT count(*) AS "count!" FROM prompts WHERE active"#)
        .fetch_one(pool)
        .await?;
    let needed = builds_needed(active_prompts, percent);
    // Votes are looked for only where builds are missing: to look at all builds of all models takes long.
    let rows = sqlx::query!(
        r#"
        WITH short AS (
            SELECT model_key, array_agg(builds.id) AS ids
            FROM builds
            JOIN prompts ON prompts.id = prompt_id AND active
            JOIN models ON models.key = model_key AND enabled
            WHERE retired_at IS NULL AND settings = $1 AND provider <> 'reference'
            GROUP BY model_key
            HAVING count(*) < $2
        )
        SELECT model_key AS "model: ModelKey", cardinality(ids) AS "builds!"
        FROM short
        WHERE NOT EXISTS (SELECT FROM tallies WHERE build_a = ANY(ids))
          AND NOT EXISTS (SELECT FROM tallies WHERE build_b = ANY(ids))
        ORDER BY model_key
        "#,
        settings as _,
        needed,
    )
    .fetch_all(pool)
    .await?;
    let waiting = rows.into_iter().map(|row| WaitingModel {
        model: row.model,
        builds: usize::try_from(row.builds).unwrap_or_default(),
        needed: usize::try_from(needed).unwrap_or_default(),
    });
    Ok(waiting.collect())
}

/// Models with a build in force of one of some active prompts.
pub(super) async fn builders(
    executor: impl PgExecutor<'_>,
    settings: &Settings,
    filter: &PromptFilter,
) -> sqlx::Result<HashSet<ModelKey>> {
    let models = sqlx::query_scalar!(
        r#"
        SELECT DISTINCT model_key AS "model_key: ModelKey"
        FROM builds
        JOIN prompts ON prompts.id = prompt_id
        WHERE retired_at IS NULL AND active AND settings = $1
          AND ($2::text IS NULL OR $2 = ANY(tags))
          AND ($3::boolean IS NULL OR held_out = $3)
        "#,
        settings as _,
        filter.tag,
        filter.held_out,
    )
    .fetch_all(executor)
    .await?;
    Ok(models.into_iter().collect())
}

async fn prompt_groups(pool: &PgPool, settings: &Settings) -> sqlx::Result<PromptGroups> {
    let row = sqlx::query!(
        r#"
        SELECT
            coalesce(array_agg(DISTINCT tag) FILTER (WHERE tag IS NOT NULL), '{}') AS "tags!",
            coalesce(bool_or(held_out), false) AS "has_held_out!"
        FROM prompts
        LEFT JOIN unnest(tags) AS tag ON true
        WHERE EXISTS (SELECT FROM builds WHERE prompt_id = prompts.id AND settings = $1)
        "#,
        settings as _,
    )
    .fetch_one(pool)
    .await?;
    let mut tags = row.tags;
    tags.sort_unstable();
    Ok(PromptGroups { tags, has_held_out: row.has_held_out })
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    #[test]
    fn references_make_room_once_two_others_have_built() {
        for (policy, references, others, taking_part) in [
            (ReferencePolicy::Auto, 2, 0, 2),
            (ReferencePolicy::Auto, 2, 1, 3),
            (ReferencePolicy::Auto, 2, 2, 2),
            (ReferencePolicy::Auto, 1, 0, 0),
            (ReferencePolicy::On, 2, 3, 5),
            (ReferencePolicy::Off, 4, 1, 0),
            (ReferencePolicy::Off, 4, 2, 2),
        ] {
            let entrant = |index: usize| Entrant {
                model: format!("m{index}").parse().unwrap(),
                build: Uuid::new_v4(),
                is_reference: index < references,
            };
            let entrants = (0..references + others).map(entrant).collect();
            let castle = "castle".parse().unwrap();
            let contest = Contest::new("32-simple-precise", castle, "a castle".to_owned(), entrants);
            let lineup = Lineup::of(vec![contest], Vec::new(), PromptGroups::default(), policy);
            let found = lineup.contests().map(|contest| contest.entrants.len()).sum::<usize>();
            assert_eq!(found, taking_part, "{policy:?} with {references} references and {others} others");
        }
    }

    #[test]
    fn the_share_of_prompts_that_a_model_must_have_built_is_rounded_up() {
        for (active_prompts, percent, needed) in
            [(5, 50, 3), (4, 50, 2), (5, 100, 5), (5, 0, 0), (0, 50, 0), (1, 1, 1)]
        {
            assert_eq!(builds_needed(active_prompts, percent), needed, "{percent} % of {active_prompts}");
        }
    }
}
