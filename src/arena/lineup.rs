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

/// The builds in force of an enabled model, of active prompts. Reference models have no cohort: they ship whole.
#[derive(Debug)]
struct Cohort {
    model: ModelKey,
    builds: usize,
    /// Whether one of these builds has been voted on. Then the model has been shown, and stays when prompts are added.
    has_votes: bool,
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

/// The models that have built less than so many percent of the active prompts.
fn waiting(cohorts: Vec<Cohort>, active_prompts: usize, percent: u32) -> Vec<WaitingModel> {
    let needed = (active_prompts * percent as usize).div_ceil(100);
    let waiting = cohorts.into_iter().filter(|cohort| cohort.builds < needed && !cohort.has_votes);
    waiting.map(|Cohort { model, builds, .. }| WaitingModel { model, builds, needed }).collect()
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
        // Before the cohorts, so that whoever has a build in a contest is in a cohort.
        let contests = contests(pool, settings).await?;
        let (cohorts, active_prompts) = cohorts(pool, settings).await?;
        let waiting = waiting(cohorts, active_prompts, self.cohort_percent);
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

/// The cohorts at these settings, and the number of active prompts.
async fn cohorts(pool: &PgPool, settings: &Settings) -> sqlx::Result<(Vec<Cohort>, usize)> {
    let rows = sqlx::query!(
        r#"
        SELECT
            model_key AS "model: ModelKey", count(*) AS "builds!",
            bool_or(
                EXISTS (SELECT FROM tallies WHERE build_a = builds.id)
                OR EXISTS (SELECT FROM tallies WHERE build_b = builds.id)
            ) AS "has_votes!"
        FROM builds
        JOIN prompts ON prompts.id = prompt_id AND active
        JOIN models ON models.key = model_key AND enabled
        WHERE retired_at IS NULL AND settings = $1 AND provider <> 'reference'
        GROUP BY model_key
        ORDER BY model_key
        "#,
        settings as _,
    )
    .fetch_all(pool)
    .await?;
    let active_prompts = sqlx::query_scalar!(r#"SELECT count(*) AS "count!" FROM prompts WHERE active"#)
        .fetch_one(pool)
        .await?;
    let number = |count: i64| usize::try_from(count).unwrap_or_default();
    let cohorts = rows.into_iter().map(|row| Cohort {
        model: row.model,
        builds: number(row.builds),
        has_votes: row.has_votes,
    });
    Ok((cohorts.collect(), number(active_prompts)))
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
    fn a_model_waits_until_it_has_built_its_share_of_the_prompts_or_was_voted_on() {
        for (builds, has_votes, percent, needed) in [
            (1, false, 50, Some(3)),
            (2, false, 50, Some(3)),
            (3, false, 50, None),
            (1, true, 50, None),
            (4, false, 100, Some(5)),
            (5, false, 100, None),
            (1, false, 0, None),
        ] {
            let model: ModelKey = "gpt".parse().unwrap();
            let cohort = Cohort { model: model.clone(), builds, has_votes };
            let expected = needed.map(|needed| WaitingModel { model, builds, needed });
            let found = waiting(vec![cohort], 5, percent).pop();
            assert_eq!(found, expected, "{builds} of 5 builds, {percent} %, votes: {has_votes}");
        }
    }
}
