//! Reads what the statistics of judges follow from. Builds are named by their ids in the vote log, so that everything is
//! in the order that readers of the logs find, and equal values are listed alike.

use std::collections::{BTreeMap, HashMap, HashSet};

use sqlx::PgConnection;
use uuid::Uuid;

use super::{JudgesVersion, MAX_JUDGEMENTS, ProfileScore, ReportedBuild, ScoreProfile};
use crate::arena::leaderboard::Published;
use crate::arena::lineup;
use crate::arena::skill::PairTally;
use crate::arena::tallies::{self, Pace};
use crate::arena::{Choice, ModelKey, PromptFilter, PromptId, Settings};
use crate::judge::agreement::{AgreementData, BuildFacts, CountedVotes, JudgeScore, JudgeVote};
use crate::judge::criteria::CriteriaText;
use crate::judge::log::skills_of_all;
use crate::judge::{Judge, JudgeKind};

pub(super) struct JudgesInput {
    /// Without the skills of models.
    pub data: AgreementData,
    pub names: BTreeMap<Judge, String>,
    /// How many judgements and votes each has made.
    pub counts: BTreeMap<Judge, (i64, i64)>,
    pub builds: BTreeMap<Uuid, ReportedBuild>,
    pub profiles: BTreeMap<ModelKey, Vec<ScoreProfile>>,
    pub is_limited: bool,
    /// The settings of each build, and the tallies of each ladder, for the skills.
    settings: HashMap<Uuid, Settings>,
    ladders: Vec<(Settings, Vec<PairTally>)>,
}

pub(super) async fn version(
    connection: &mut PgConnection,
    published: Published,
    latest_judgement: i64,
) -> sqlx::Result<JudgesVersion> {
    let row = sqlx::query!(
        r#"
        SELECT
            coalesce((SELECT max(id) FROM votes), 0) AS "vote!",
            (SELECT count(*) FROM builds WHERE withheld) AS "withheld!"
        "#
    )
    .fetch_one(&mut *connection)
    .await?;
    Ok(JudgesVersion {
        latest_judgement,
        latest_vote: row.vote.min(published.through),
        published,
        catalog: lineup::revision(connection).await?,
        withheld: row.withheld,
    })
}

pub(super) async fn read(
    connection: &mut PgConnection,
    settings: &Settings,
    version: JudgesVersion,
) -> sqlx::Result<JudgesInput> {
    let JudgesVersion { latest_judgement: latest, published, .. } = version;
    let mut input = JudgesInput {
        data: AgreementData::default(),
        names: BTreeMap::from([(Judge::people(), "People".to_owned())]),
        counts: BTreeMap::new(),
        builds: BTreeMap::new(),
        profiles: BTreeMap::new(),
        is_limited: false,
        settings: HashMap::new(),
        ladders: Vec::new(),
    };
    if latest == 0 {
        return Ok(input);
    }
    // Nobody waits for most of this, and a statement may take longer than a visitor's.
    sqlx::query!("SET LOCAL statement_timeout = 0").execute(&mut *connection).await?;
    let mut judged = HashMap::new();
    input.read_judges(connection).await?;
    input.read_scores(connection, latest, &mut judged).await?;
    input.read_people(connection, latest, &mut judged).await?;
    input.read_votes(connection, latest, &mut judged).await?;
    input.read_builds(connection, &judged).await?;
    input.read_tallies(connection, &judged, published).await?;
    input.profiles = profiles(connection, settings, latest, &input.names).await?;
    Ok(input)
}

/// Judged builds, with their ids in the vote log.
type LogIds = HashMap<Uuid, Uuid>;

impl JudgesInput {
    /// Fits the skills of models to the votes of each ladder, and gives them to the builds. Heavy work.
    pub fn fit_skills(&mut self) {
        let skills: HashMap<&Settings, BTreeMap<ModelKey, f64>> =
            self.ladders.iter().map(|(settings, tallies)| (settings, skills_of_all(tallies))).collect();
        for build in &mut self.data.builds {
            let ladder = self.settings.get(&build.build).and_then(|settings| skills.get(settings));
            let of_model = |models: &BTreeMap<ModelKey, f64>| {
                models.iter().find(|(model, _)| model.as_str() == build.model).map(|(_, skill)| *skill)
            };
            build.skill = ladder.and_then(of_model);
        }
    }

    async fn read_judges(&mut self, connection: &mut PgConnection) -> sqlx::Result<()> {
        let rows =
            sqlx::query!("SELECT key, provider, display_name FROM models").fetch_all(connection).await?;
        for row in rows {
            let judge = Judge::model(row.key);
            self.data.providers.insert(judge.clone(), row.provider);
            self.names.insert(judge, row.display_name);
        }
        Ok(())
    }

    async fn read_scores(
        &mut self,
        connection: &mut PgConnection,
        latest: i64,
        judged: &mut LogIds,
    ) -> sqlx::Result<()> {
        let rows = sqlx::query!(
            r#"
            SELECT judgements.model_key AS "judge!", builds.id, log_id, overall
            FROM judgements
            JOIN builds ON builds.id = build_id
            WHERE judgements.id <= $1 AND judgements.model_key IS NOT NULL AND NOT withheld
            ORDER BY judgements.id DESC
            LIMIT $2
            "#,
            latest,
            MAX_JUDGEMENTS,
        )
        .fetch_all(connection)
        .await?;
        self.is_limited |= rows.len() as i64 == MAX_JUDGEMENTS;
        for row in rows.into_iter().rev() {
            judged.insert(row.id, row.log_id);
            let judge = Judge::model(row.judge);
            self.counts.entry(judge.clone()).or_default().0 += 1;
            self.data.scores.push(JudgeScore { judge, build: row.log_id, overall: row.overall });
        }
        Ok(())
    }

    async fn read_people(
        &mut self,
        connection: &mut PgConnection,
        latest: i64,
        judged: &mut LogIds,
    ) -> sqlx::Result<()> {
        let rows = sqlx::query!(
            r#"
            SELECT builds.id, log_id, avg(overall) AS "overall!", count(*) AS "judgements!"
            FROM judgements
            JOIN builds ON builds.id = build_id
            WHERE judgements.id <= $1 AND voter_id IS NOT NULL AND exclusion IS NULL AND NOT withheld
            GROUP BY builds.id
            ORDER BY builds.id
            LIMIT $2
            "#,
            latest,
            MAX_JUDGEMENTS,
        )
        .fetch_all(connection)
        .await?;
        for row in rows {
            judged.insert(row.id, row.log_id);
            self.counts.entry(Judge::people()).or_default().0 += row.judgements;
            let score = JudgeScore { judge: Judge::people(), build: row.log_id, overall: row.overall };
            self.data.scores.push(score);
        }
        Ok(())
    }

    async fn read_votes(
        &mut self,
        connection: &mut PgConnection,
        latest: i64,
        judged: &mut LogIds,
    ) -> sqlx::Result<()> {
        let rows = sqlx::query!(
            r#"
            SELECT
                judge_votes.model_key AS judge, choice AS "choice: Choice",
                lefts.id AS left_id, lefts.log_id AS left_log_id, rights.id AS right_id, rights.log_id AS right_log_id
            FROM judge_votes
            JOIN builds lefts ON lefts.id = left_build
            JOIN builds rights ON rights.id = right_build
            WHERE judge_votes.id <= $1 AND NOT lefts.withheld AND NOT rights.withheld
            ORDER BY judge_votes.id DESC
            LIMIT $2
            "#,
            latest,
            MAX_JUDGEMENTS,
        )
        .fetch_all(connection)
        .await?;
        self.is_limited |= rows.len() as i64 == MAX_JUDGEMENTS;
        for row in rows.into_iter().rev() {
            judged.extend([(row.left_id, row.left_log_id), (row.right_id, row.right_log_id)]);
            let judge = Judge::model(row.judge);
            self.counts.entry(judge.clone()).or_default().1 += 1;
            let (left, right) = (row.left_log_id, row.right_log_id);
            self.data.judge_votes.push(JudgeVote { judge, left, right, choice: row.choice });
        }
        Ok(())
    }

    async fn read_builds(&mut self, connection: &mut PgConnection, judged: &LogIds) -> sqlx::Result<()> {
        let ids: Vec<Uuid> = judged.keys().copied().collect();
        let rows = sqlx::query!(
            r#"
            SELECT
                builds.id, log_id, prompt_id AS "prompt_id: PromptId", text, model_key AS "model: ModelKey", provider,
                display_name, block_count, settings AS "settings: Settings"
            FROM builds
            JOIN prompts ON prompts.id = prompt_id
            JOIN models ON models.key = model_key
            WHERE builds.id = ANY($1)
            "#,
            &ids,
        )
        .fetch_all(connection)
        .await?;
        for row in rows {
            self.data.builds.push(BuildFacts {
                build: row.log_id,
                model: row.model.as_str().to_owned(),
                provider: row.provider,
                blocks: u64::from(row.block_count.unsigned_abs()),
                skill: None,
            });
            self.settings.insert(row.log_id, row.settings);
            let build = ReportedBuild {
                id: row.id,
                prompt_id: row.prompt_id,
                prompt: row.text,
                model: row.model,
                model_name: row.display_name,
            };
            self.builds.insert(row.log_id, build);
        }
        Ok(())
    }

    async fn read_tallies(
        &mut self,
        connection: &mut PgConnection,
        judged: &LogIds,
        published: Published,
    ) -> sqlx::Result<()> {
        let ids: Vec<Uuid> = judged.keys().copied().collect();
        let counted = tallies::of_builds(connection, &ids, published).await?;
        self.data.counted_votes = counted
            .into_iter()
            .map(|([left, right], counts)| CountedVotes::new(left, right, counts))
            .collect();
        let ladders: HashSet<Settings> = self.settings.values().cloned().collect();
        for settings in ladders {
            let all = PromptFilter::default();
            let ladder = tallies::read(connection, &settings, &all, Pace::Background, published).await?;
            // Sizes are for another fit.
            let tallies = ladder.tallies.into_iter().map(|tally| PairTally { sizes: None, ..tally });
            self.ladders.push((settings, tallies.collect()));
        }
        Ok(())
    }
}

/// By the present criteria.
async fn profiles(
    connection: &mut PgConnection,
    settings: &Settings,
    latest: i64,
    names: &BTreeMap<Judge, String>,
) -> sqlx::Result<BTreeMap<ModelKey, Vec<ScoreProfile>>> {
    let rows = sqlx::query!(
        r#"
        SELECT
            maker AS "maker!: ModelKey", judge AS "judge?", criterion AS "criterion!",
            avg(score) AS "mean!", stddev_samp(score) AS deviation, count(*) AS "builds!"
        FROM (
            SELECT
                builds.model_key AS maker, judgements.model_key AS judge, build_id, criterion, avg(score) AS score
            FROM judgements
            JOIN builds ON builds.id = build_id
            CROSS JOIN LATERAL (VALUES
                ('overall', overall), ('task_progress', task_progress), ('material_usage', material_usage),
                ('action_control', action_control), ('efficiency', efficiency),
                ('error_recognition', error_recognition), ('creative_attempts', creative_attempts)
            ) AS given (criterion, score)
            WHERE judgements.id <= $1 AND criteria = $2 AND exclusion IS NULL
              AND settings = $3 AND NOT withheld AND retired_at IS NULL AND score IS NOT NULL
            GROUP BY builds.model_key, judgements.model_key, build_id, criterion
        ) scored
        GROUP BY maker, judge, criterion
        "#,
        latest,
        &CriteriaText::build().digest().0[..],
        settings as _,
    )
    .fetch_all(connection)
    .await?;
    let mut found: BTreeMap<ModelKey, BTreeMap<Judge, ScoreProfile>> = BTreeMap::new();
    for row in rows {
        let judge = row.judge.map_or_else(Judge::people, Judge::model);
        let name = names.get(&judge).cloned().unwrap_or_else(|| judge.key.clone());
        let profile = found.entry(row.maker).or_default().entry(judge.clone()).or_insert_with(|| {
            ScoreProfile { judge, name, overall: ProfileScore::default(), criteria: BTreeMap::new() }
        });
        let score = ProfileScore { builds: row.builds, mean: row.mean, deviation: row.deviation };
        match row.criterion.parse() {
            Ok(criterion) => drop(profile.criteria.insert(criterion, score)),
            Err(_) => profile.overall = score,
        }
    }
    let sorted = found.into_iter().map(|(model, profiles)| {
        let mut profiles: Vec<ScoreProfile> = profiles.into_values().collect();
        profiles.sort_by(|a, b| {
            let order =
                |profile: &ScoreProfile| (profile.judge.kind == JudgeKind::People, profile.name.clone());
            order(a).cmp(&order(b))
        });
        (model, profiles)
    });
    Ok(sorted.collect())
}
