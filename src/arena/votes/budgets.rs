//! How much a voter and a network can count for.
//!
//! Votes beyond a budget are accepted and answered like all others, and do not count. So nobody is turned away, and a
//! flood learns nothing from the answers.

use std::collections::{HashMap, HashSet};

use sqlx::{PgConnection, PgPool};
use time::{Date, Duration, OffsetDateTime};

use super::exclusion::Exclusion;
use super::network_keys::NetworkDigest;
use crate::arena::{ModelKey, Settings, Voter};

/// A network none of whose votes on a model has counted for so long begins anew.
const INFLUENCE_SPAN: Duration = Duration::minutes(10);

/// By how much a network can move a model within a day, as a multiple of the same within [`INFLUENCE_SPAN`].
const INFLUENCE_PER_DAY: f64 = 4.0;

/// How many votes count from an IPv6 /48, as a multiple of those from each /64 in it.
const VOTES_PER_SITE: i64 = 4;

/// None means without a limit.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct VoteBudgets {
    /// Votes of one voter that count within a day.
    pub voter_per_day: Option<u32>,
    /// Votes from one network that count within a day: an IPv4 /24 or an IPv6 /64. An IPv6 /48 has four times as many.
    pub network_per_day: Option<u32>,
    /// The Elo points by which the votes of one network could move a model, whatever they chose, until none of them has
    /// counted for ten minutes; within a day they move it by no more than four times as much. A single vote counts even
    /// if it is worth more.
    pub network_points: Option<f64>,
}

impl VoteBudgets {
    pub fn are_unlimited(&self) -> bool {
        *self == Self::default()
    }
}

/// Who casts a vote, as budgets see it.
pub struct VoteOrigin {
    pub voter: Voter,
    /// The subnet and the site, which are the same for IPv4.
    pub networks: Vec<NetworkDigest>,
}

impl VoteOrigin {
    /// The network whose influence is limited: the largest.
    pub fn network(&self) -> Option<NetworkDigest> {
        self.networks.last().copied()
    }

    /// Everything whose votes are counted by the day. Voters' ids are random, so none looks like a network.
    fn subjects(&self) -> impl Iterator<Item = Subject> {
        [self.voter.0.into_bytes()].into_iter().chain(self.networks.iter().map(|network| network.0))
    }
}

/// How a vote changes a model's rating.
pub struct RatingShift<'a> {
    pub settings: &'a Settings,
    pub model: &'a ModelKey,
    pub points: f64,
    /// The most that any choice in this matchup could change it, up or down.
    pub most: f64,
}

/// What has been used of the budgets, as far as a batch of votes is concerned.
pub struct BudgetUse {
    budgets: VoteBudgets,
    now: OffsetDateTime,
    /// The votes of this day before the batch, and those of the batch.
    earlier_votes: HashMap<Subject, i32>,
    new_votes: HashMap<Subject, i32>,
    influence: HashMap<InfluenceKey, Influence>,
    /// The influence that the batch has changed.
    changed: HashSet<InfluenceKey>,
}

/// A voter or a network.
type Subject = [u8; 16];

type InfluenceKey = (NetworkDigest, Settings, ModelKey);

/// What the votes of a network that counted have done to a model.
#[derive(Clone, Copy)]
struct Influence {
    /// The points by which they have moved it today, up or down.
    moved: f64,
    /// The points by which they could have moved it since the network last left it alone for [`INFLUENCE_SPAN`]. Votes
    /// that cancel each other out, or hardly move anything, such as ties, use up the budget as well: they change the
    /// skill of models.
    at_stake: f64,
    latest: OffsetDateTime,
}

impl BudgetUse {
    pub async fn read(
        connection: &mut PgConnection,
        budgets: VoteBudgets,
        origins: impl Iterator<Item = &VoteOrigin> + Clone,
        now: OffsetDateTime,
    ) -> sqlx::Result<Self> {
        let mut this = Self {
            budgets,
            now,
            earlier_votes: HashMap::new(),
            new_votes: HashMap::new(),
            influence: HashMap::new(),
            changed: HashSet::new(),
        };
        if !budgets.are_unlimited() {
            this.read_votes(&mut *connection, origins.clone()).await?;
            this.read_influence(connection, origins).await?;
        }
        Ok(this)
    }

    async fn read_votes(
        &mut self,
        connection: &mut PgConnection,
        origins: impl Iterator<Item = &VoteOrigin>,
    ) -> sqlx::Result<()> {
        let subjects: Vec<_> = origins.flat_map(VoteOrigin::subjects).map(Vec::from).collect();
        let rows = sqlx::query!(
            "SELECT subject, votes FROM daily_votes WHERE day = $1 AND subject = ANY($2)",
            self.now.date(),
            &subjects,
        )
        .fetch_all(connection)
        .await?;
        self.earlier_votes =
            rows.into_iter().filter_map(|row| Some((row.subject.try_into().ok()?, row.votes))).collect();
        Ok(())
    }

    async fn read_influence(
        &mut self,
        connection: &mut PgConnection,
        origins: impl Iterator<Item = &VoteOrigin>,
    ) -> sqlx::Result<()> {
        let networks: HashSet<_> = origins.filter_map(VoteOrigin::network).collect();
        let networks: Vec<_> = networks.into_iter().map(|network| network.0.to_vec()).collect();
        let rows = sqlx::query!(
            r#"
            SELECT
                network, settings AS "settings: Settings", model_key AS "model: ModelKey",
                points_moved, points_at_stake, latest
            FROM network_influence
            WHERE day = $1 AND network = ANY($2)
            "#,
            self.now.date(),
            &networks,
        )
        .fetch_all(connection)
        .await?;
        self.influence = rows
            .into_iter()
            .filter_map(|row| {
                let network = NetworkDigest(row.network.try_into().ok()?);
                let influence =
                    Influence { moved: row.points_moved, at_stake: row.points_at_stake, latest: row.latest };
                Some(((network, row.settings, row.model), influence))
            })
            .collect();
        Ok(())
    }

    /// Decides whether a vote counts, and uses up its budgets if so. A judgement of a build is a vote that shifts nothing.
    pub fn judge(&mut self, origin: &VoteOrigin, shifts: &[RatingShift<'_>]) -> Option<Exclusion> {
        if self.budgets.are_unlimited() {
            return None;
        }
        if self.is_over_daily_votes(origin)
            || shifts.iter().any(|shift| self.is_over_influence(origin, shift))
        {
            return Some(Exclusion::OverBudget);
        }
        for subject in origin.subjects() {
            *self.new_votes.entry(subject).or_default() += 1;
        }
        for shift in shifts {
            self.add_influence(origin, shift);
        }
        None
    }

    fn is_over_daily_votes(&self, origin: &VoteOrigin) -> bool {
        let VoteBudgets { voter_per_day, network_per_day, .. } = self.budgets;
        let votes = |subject: &Subject| {
            let count = |votes: &HashMap<_, _>| i64::from(votes.get(subject).copied().unwrap_or(0));
            count(&self.earlier_votes) + count(&self.new_votes)
        };
        let is_spent = |subject: &Subject, budget: Option<u32>, times: i64| {
            budget.is_some_and(|budget| votes(subject) >= times * i64::from(budget))
        };
        let networks = origin.networks.iter().zip([1, VOTES_PER_SITE]);
        is_spent(&origin.voter.0.into_bytes(), voter_per_day, 1)
            || networks.into_iter().any(|(network, times)| is_spent(&network.0, network_per_day, times))
    }

    /// What the voter has chosen makes no difference. If wins beyond the budget did not count while losses still did,
    /// the votes of a busy network would come out even, whatever its voters think.
    ///
    /// A vote that is worth more than the budget counts if its network has not moved the model. Otherwise upsets would
    /// never count, and strong models would never lose.
    fn is_over_influence(&self, origin: &VoteOrigin, shift: &RatingShift<'_>) -> bool {
        let (Some(budget), Some(network)) = (self.budgets.network_points, origin.network()) else {
            return false;
        };
        let Influence { moved, at_stake, .. } = self.influence_of(network, shift);
        let exceeds = |before: f64, budget: f64| before + shift.most > budget.max(shift.most);
        exceeds(at_stake, budget) || exceeds(moved.abs(), budget * INFLUENCE_PER_DAY)
    }

    fn add_influence(&mut self, origin: &VoteOrigin, shift: &RatingShift<'_>) {
        let (Some(_), Some(network)) = (self.budgets.network_points, origin.network()) else { return };
        let before = self.influence_of(network, shift);
        let after = Influence {
            moved: before.moved + shift.points,
            at_stake: before.at_stake + shift.most,
            latest: self.now,
        };
        let key = (network, shift.settings.clone(), shift.model.clone());
        self.influence.insert(key.clone(), after);
        self.changed.insert(key);
    }

    fn influence_of(&self, network: NetworkDigest, shift: &RatingShift<'_>) -> Influence {
        let key = (network, shift.settings.clone(), shift.model.clone());
        match self.influence.get(&key) {
            Some(known) if self.now - known.latest < INFLUENCE_SPAN => *known,
            Some(known) => Influence { at_stake: 0.0, ..*known },
            None => Influence { moved: 0.0, at_stake: 0.0, latest: self.now },
        }
    }

    /// Servers that count at the same time may each let some votes of a voter or network through. The locks on the
    /// ratings keep them from doing so for the influence on a model.
    pub async fn store(self, connection: &mut PgConnection) -> sqlx::Result<()> {
        if !self.new_votes.is_empty() {
            self.store_votes(&mut *connection).await?;
        }
        if !self.changed.is_empty() {
            self.store_influence(connection).await?;
        }
        Ok(())
    }

    /// In the order of their keys, like the rows of influence, so that servers never deadlock.
    async fn store_votes(&self, connection: &mut PgConnection) -> sqlx::Result<()> {
        let (subjects, votes): (Vec<_>, Vec<_>) =
            self.new_votes.iter().map(|(subject, votes)| (subject.to_vec(), *votes)).unzip();
        sqlx::query!(
            "
            INSERT INTO daily_votes (day, subject, votes)
            SELECT $1, subject, votes
            FROM unnest((SELECT $2::bytea[]), (SELECT $3::int[])) AS counted (subject, votes)
            ORDER BY subject
            ON CONFLICT (day, subject) DO UPDATE SET votes = daily_votes.votes + excluded.votes
            ",
            self.now.date(),
            &subjects,
            &votes,
        )
        .execute(connection)
        .await?;
        Ok(())
    }

    async fn store_influence(&self, connection: &mut PgConnection) -> sqlx::Result<()> {
        let rows: Vec<_> =
            self.changed.iter().filter_map(|key| Some((key, self.influence.get(key)?))).collect();
        let column =
            |of: fn(&Influence) -> f64| -> Vec<f64> { rows.iter().map(|(_, row)| of(row)).collect() };
        sqlx::query!(
            "
            INSERT INTO network_influence (
                day, network, settings, model_key, points_moved, points_at_stake, latest
            )
            SELECT $1, *
            FROM unnest(
                (SELECT $2::bytea[]), (SELECT $3::text[]), (SELECT $4::text[]), (SELECT $5::float8[]),
                (SELECT $6::float8[]), (SELECT $7::timestamptz[])
            ) AS moved (network, settings, model, points_moved, points_at_stake, latest)
            ORDER BY network, settings, model
            ON CONFLICT (day, network, settings, model_key) DO UPDATE
            SET points_moved = excluded.points_moved, points_at_stake = excluded.points_at_stake,
                latest = excluded.latest
            ",
            self.now.date(),
            &rows.iter().map(|((network, ..), _)| network.0.to_vec()).collect::<Vec<_>>(),
            rows.iter().map(|((_, settings, _), _)| settings).collect::<Vec<_>>() as _,
            rows.iter().map(|((_, _, model), _)| model).collect::<Vec<_>>() as _,
            &column(|influence| influence.moved),
            &column(|influence| influence.at_stake),
            &rows.iter().map(|(_, influence)| influence.latest).collect::<Vec<_>>(),
        )
        .execute(connection)
        .await?;
        Ok(())
    }
}

/// Drops what has been used on earlier days.
pub async fn purge(pool: &PgPool, today: Date) -> sqlx::Result<()> {
    sqlx::query!("DELETE FROM daily_votes WHERE day < $1", today).execute(pool).await?;
    sqlx::query!("DELETE FROM network_influence WHERE day < $1", today).execute(pool).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    struct Votes {
        spent: BudgetUse,
        settings: Settings,
        models: [ModelKey; 2],
    }

    impl Votes {
        fn with(budgets: VoteBudgets) -> Self {
            let spent = BudgetUse {
                budgets,
                now: OffsetDateTime::UNIX_EPOCH,
                earlier_votes: HashMap::new(),
                new_votes: HashMap::new(),
                influence: HashMap::new(),
                changed: HashSet::new(),
            };
            let models = ["elm", "oak"].map(|key| key.parse().unwrap());
            Self { spent, settings: "32-simple-precise".parse().unwrap(), models }
        }

        /// Whether a vote counts that moves the first model by so many points, and the second by as many the other way.
        fn counts(&mut self, voter: u128, network: u8, points: f64) -> bool {
            let networks = vec![NetworkDigest([network; 16])];
            let origin = VoteOrigin { voter: Voter(Uuid::from_u128(voter)), networks };
            let shifts = [points, -points];
            let shifts = [0, 1].map(|side| RatingShift {
                settings: &self.settings,
                model: &self.models[side],
                points: shifts[side],
                most: points.abs().max(8.0),
            });
            self.spent.judge(&origin, &shifts).is_none()
        }

        fn pass(&mut self, time: Duration) {
            self.spent.now += time;
        }
    }

    #[test]
    fn a_voter_and_a_network_each_have_a_budget_of_votes_a_day() {
        let budgets =
            VoteBudgets { voter_per_day: Some(3), network_per_day: Some(5), ..VoteBudgets::default() };
        let mut votes = Votes::with(budgets);
        assert_eq!((0..9).filter(|_| votes.counts(1, 1, 8.0)).count(), 3);
        assert_eq!((0..9).filter(|_| votes.counts(2, 1, 8.0)).count(), 2);
        assert_eq!((0..9).filter(|_| votes.counts(3, 2, 8.0)).count(), 3);
    }

    #[test]
    fn a_network_moves_a_model_by_no_more_than_its_points_within_ten_minutes() {
        let mut votes = Votes::with(VoteBudgets { network_points: Some(10.0), ..VoteBudgets::default() });
        assert_eq!((1..=9).filter(|voter| votes.counts(*voter, 1, 8.0)).count(), 1);
        assert!(!votes.counts(1, 1, -8.0), "the choice makes no difference");
        assert!(votes.counts(1, 2, 8.0), "another network has its own budget");
        votes.pass(INFLUENCE_SPAN - Duration::SECOND);
        assert!(!votes.counts(2, 1, 8.0));
        votes.pass(Duration::SECOND);
        assert!(votes.counts(3, 1, 8.0));
    }

    #[test]
    fn ties_and_votes_that_cancel_out_use_up_the_budget_too() {
        let mut votes = Votes::with(VoteBudgets { network_points: Some(20.0), ..VoteBudgets::default() });
        let points = [0.0, 8.0, -8.0, 0.0, 0.0];
        assert_eq!(points.map(|points| votes.counts(1, 1, points)), [true, true, false, false, false]);
    }

    #[test]
    fn within_a_day_a_network_moves_a_model_by_four_times_as_much() {
        let mut votes = Votes::with(VoteBudgets { network_points: Some(10.0), ..VoteBudgets::default() });
        let mut moved = 0.0;
        for voter in 0..100 {
            votes.pass(INFLUENCE_SPAN);
            moved += if votes.counts(voter, 1, 8.0) { 8.0 } else { 0.0 };
        }
        assert_eq!(moved, 40.0);
    }

    #[test]
    fn a_single_vote_counts_even_if_it_is_worth_more_than_the_budget() {
        let mut votes = Votes::with(VoteBudgets { network_points: Some(10.0), ..VoteBudgets::default() });
        assert!(votes.counts(1, 1, 15.0));
        assert!(!votes.counts(2, 1, 15.0));
    }

    #[test]
    fn without_budgets_every_vote_counts() {
        let mut votes = Votes::with(VoteBudgets::default());
        assert!((0..999).all(|_| votes.counts(1, 1, 16.0)));
    }
}
