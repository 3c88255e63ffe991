//! `/leaderboard`: the table and its charts.

mod pairs;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use askama::Template;
use askama_web::WebTemplate;
use axum::Router;
use axum::extract::State;
use axum::routing::get;
use moka::future::Cache;
use serde::Deserialize;
use time::OffsetDateTime;

use crate::app::App;
use crate::arena::catalog::ContestantKind;
use crate::arena::leaderboard::{LadderEntry, LadderModel, Leaderboard, StandingChange};
use crate::arena::skill::{EqualSizeFit, Skill};
use crate::arena::{ModelKey, PromptFilter};
use crate::web::api::leaderboard::{PromptGroup, board, on_prompts};
use crate::web::charts::{Expense, Heatmap, HistoryChart, IntervalBar, RatingAxis, TradeoffChart};
use crate::web::query::{self, PageQuery};
use crate::web::{Error, Page, ShareCard, filters};

/// For the template, in the type of a count of votes.
const MIN_VOTES_FOR_SKILL: i64 = crate::arena::skill::MIN_VOTES_FOR_SKILL as i64;

pub(in crate::web) fn routes() -> Router<App> {
    let cache = ChartCache::new(MAX_CACHED_CHARTS);
    Router::new()
        .route("/leaderboard", get(move |app, query| page(app, query, cache)))
        .route("/leaderboard/pairs", get(pairs::page))
}

/// The query of the page. A form sends an empty field for what is not chosen.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct LeaderboardPageQuery {
    provider: String,
    tag: String,
    prompts: PromptGroup,
    kind: ContestantKind,
    sort: Option<LadderSort>,
    order: Option<SortOrder>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum LadderSort {
    Elo,
    Model,
    Change,
    Skill,
    EqualSize,
    Votes,
    Won,
    Lost,
    Tied,
    BothBad,
    Shown,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum SortOrder {
    Asc,
    Desc,
}

/// The sortable columns, from left to right: the name in addresses, and the heading.
const COLUMNS: [(LadderSort, &str, &str); 11] = [
    (LadderSort::Model, "model", "Model"),
    (LadderSort::Elo, "elo", "Elo"),
    (LadderSort::Change, "change", "24 h"),
    (LadderSort::Skill, "skill", "Skill"),
    (LadderSort::EqualSize, "equal-size", "At equal size"),
    (LadderSort::Votes, "votes", "Votes"),
    (LadderSort::Won, "won", "Won"),
    (LadderSort::Lost, "lost", "Lost"),
    (LadderSort::Tied, "tied", "Tied"),
    (LadderSort::BothBad, "both-bad", "Both bad"),
    (LadderSort::Shown, "shown", "Shown"),
];

#[derive(Template, WebTemplate)]
#[template(path = "leaderboard.html")]
struct LeaderboardPage {
    page: Page,
    settings: String,
    chosen: LeaderboardPageQuery,
    board: Arc<Leaderboard>,
    lines: Vec<LadderRow>,
    providers: Vec<String>,
    tags: Vec<String>,
    /// Whether there are held-out prompts.
    has_held_out: bool,
    has_agents: bool,
    axis: Option<RatingAxis>,
    /// Rendered HTML.
    charts: Arc<str>,
    /// How late results are shown.
    delay: Duration,
}

/// The part of the page that depends only on the statistics and the names of models.
#[derive(Template)]
#[template(path = "leaderboard_charts.html")]
struct LeaderboardCharts<'a> {
    chosen: &'a LeaderboardPageQuery,
    heatmap: Option<Heatmap>,
    history: Option<HistoryChart>,
    tradeoffs: Vec<TradeoffChart>,
}

/// Rendered charts. With sixty models, they are most of the page, and most of the work on it.
type ChartCache = Cache<ChartCacheKey, Arc<str>>;

/// The prompts, the time of the statistics, and the models in their order.
type ChartCacheKey = (PromptFilter, OffsetDateTime, Vec<(ModelKey, String)>);

/// The largest charts have about a megabyte.
const MAX_CACHED_CHARTS: u64 = 16;

/// A row of the table.
struct LadderRow {
    row: LadderEntry,
    change: StandingChange,
    interval: Option<IntervalBar>,
    /// By how many ranks it is higher at equal size than by skill.
    equal_size_climb: i64,
}

async fn page(
    State(app): State<App>,
    PageQuery(mut chosen): PageQuery<LeaderboardPageQuery>,
    cache: ChartCache,
) -> Result<LeaderboardPage, Error> {
    let lineup = app.arena.lineup().await?;
    if !lineup.tags.contains(&chosen.tag) {
        chosen.tag.clear();
    }
    if !lineup.has_held_out {
        chosen.prompts = PromptGroup::All;
    }
    let board = board(&app, &chosen.filter()).await?;
    let models = || board.rows.iter().map(|row| &row.model);
    let has_agents = chosen.kind != ContestantKind::All || models().any(LadderModel::is_agent);
    let providers = models().filter(|model| !model.is_agent()).map(|model| model.provider.clone());
    let providers: BTreeSet<_> = providers.collect();
    if !providers.contains(&chosen.provider) {
        chosen.provider.clear();
    }
    let axis = RatingAxis::over(&board.rows);
    let mut lines = lines(&board, axis.as_ref());
    lines.retain(|line| {
        let provider = &line.row.model.provider;
        chosen.kind.includes(provider) && (chosen.provider.is_empty() || *provider == chosen.provider)
    });
    chosen.sort(&mut lines);
    Ok(LeaderboardPage {
        page: Page::at("/leaderboard").with_card(ShareCard::for_leaderboard()),
        settings: app.arena.settings.to_string(),
        charts: charts(&cache, &board, &chosen).await?,
        delay: app.arena.results_delay,
        providers: providers.into_iter().collect(),
        tags: lineup.tags.clone(),
        has_held_out: lineup.has_held_out,
        has_agents,
        chosen,
        board,
        lines,
        axis,
    })
}

async fn charts(
    cache: &ChartCache,
    board: &Leaderboard,
    chosen: &LeaderboardPageQuery,
) -> Result<Arc<str>, Error> {
    let rows = board.rows_as_of_stats();
    let models = rows.iter().map(|row| (row.model.key.clone(), row.model.display_name.clone()));
    let key = (chosen.filter(), board.stats.computed_at, models.collect());
    if let Some(charts) = cache.get(&key).await {
        return Ok(charts);
    }
    let models = rows.iter().map(|row| (&row.model.key, row.model.display_name.as_str()));
    let charts = LeaderboardCharts {
        chosen,
        heatmap: Heatmap::of(&rows, &board.stats.duels),
        history: HistoryChart::of(&board.stats.history.lines, models),
        tradeoffs: Expense::ALL.into_iter().filter_map(|expense| TradeoffChart::of(expense, &rows)).collect(),
    };
    let charts: Arc<str> = charts.render().map_err(anyhow::Error::from)?.into();
    cache.insert(key, Arc::clone(&charts)).await;
    Ok(charts)
}

fn lines(board: &Leaderboard, axis: Option<&RatingAxis>) -> Vec<LadderRow> {
    let both = |row: &LadderEntry| Some((row.skill.as_ref()?.rating, row.equal_size.as_ref()?.rating));
    let ratings: Vec<(f64, f64)> = board.rows.iter().filter_map(both).collect();
    let climb = |row: &LadderEntry| {
        let (skill, equal_size) = both(row)?;
        let above = ratings.iter().filter(|other| other.0 > skill).count();
        let above_at_equal_size = ratings.iter().filter(|other| other.1 > equal_size).count();
        Some(above as i64 - above_at_equal_size as i64)
    };
    let line = |(row, change): (&LadderEntry, StandingChange)| LadderRow {
        equal_size_climb: climb(row).unwrap_or(0),
        interval: axis.zip(row.skill.as_ref()).map(|(axis, skill)| axis.interval(skill)),
        row: row.clone(),
        change,
    };
    board.rows.iter().zip(board.changes()).map(line).collect()
}

impl LeaderboardPageQuery {
    fn filter(&self) -> PromptFilter {
        self.prompts.with_tag(&self.tag)
    }

    fn on_prompts(&self) -> String {
        on_prompts(&self.filter())
    }

    /// Whether it is the ladder of all prompts, which has Elo.
    fn is_whole(&self) -> bool {
        self.filter().is_all()
    }

    /// Sorts lines that are in the order of their ranks, which also decides between equal values.
    fn sort(&self, lines: &mut [LadderRow]) {
        let sort = self.sort_by();
        if sort == LadderSort::Model {
            lines.sort_by_key(|line| line.row.model.display_name.to_lowercase());
        } else {
            lines.sort_by(|a, b| b.measure(sort).total_cmp(&a.measure(sort)));
        }
        if self.order() != sort.usual_order() {
            lines.reverse();
        }
    }

    /// The column to sort by. The default is the one that ranks are based on.
    fn sort_by(&self) -> LadderSort {
        self.sort.unwrap_or(if self.is_whole() { LadderSort::Elo } else { LadderSort::Skill })
    }

    fn order(&self) -> SortOrder {
        self.order.unwrap_or(self.sort_by().usual_order())
    }

    fn is_filtered(&self) -> bool {
        !self.provider.is_empty() || self.kind != ContestantKind::All || !self.is_whole()
    }

    fn heads(&self) -> [SortHeader; 11] {
        COLUMNS.map(|(sort, name, word)| self.head(sort, name, word))
    }

    /// The link of a column sorts by it; that of the current column reverses the order.
    fn head(&self, sort: LadderSort, name: &str, word: &'static str) -> SortHeader {
        let current = self.sort_by() == sort;
        let order = if current { self.order().reversed() } else { sort.usual_order() };
        let fields = [
            ("sort", name),
            ("order", if order == sort.usual_order() { "" } else { order.name() }),
            ("provider", &self.provider),
            ("tag", &self.tag),
            ("prompts", self.prompts.in_address()),
            ("kind", self.kind.in_address()),
        ];
        let address = query::address("/leaderboard", &fields);
        SortHeader { sort, word, address: format!("{address}#ladder"), order: current.then(|| self.order()) }
    }

    /// The address of all pairs.
    fn pairs(&self) -> String {
        pairs::address(None, &self.tag, self.prompts, 1)
    }

    /// The address of the votes on a pair.
    fn pair(&self, a: &ModelKey, b: &ModelKey) -> String {
        pairs::address(Some((a.as_str(), b.as_str())), &self.tag, self.prompts, 1)
    }
}

/// The head of a column.
struct SortHeader {
    sort: LadderSort,
    word: &'static str,
    address: String,
    /// None if the table is sorted by another column.
    order: Option<SortOrder>,
}

impl LadderRow {
    /// The value that a column is sorted by. Unknown values come last.
    fn measure(&self, sort: LadderSort) -> f64 {
        let LadderEntry { standing, skill, equal_size, shown, .. } = &self.row;
        let rating = |skill: &Option<Skill>| skill.as_ref().map_or(f64::NEG_INFINITY, |skill| skill.rating);
        match sort {
            LadderSort::Elo | LadderSort::Model => standing.elo,
            LadderSort::Change => match self.change {
                StandingChange::New => f64::NEG_INFINITY,
                StandingChange::Moved { elo, .. } => elo,
            },
            LadderSort::Skill => rating(skill),
            LadderSort::EqualSize => rating(equal_size),
            LadderSort::Votes => standing.votes() as f64,
            LadderSort::Won => standing.wins as f64,
            LadderSort::Lost => standing.losses as f64,
            LadderSort::Tied => standing.ties as f64,
            LadderSort::BothBad => self.both_bad().unwrap_or(-1.0),
            LadderSort::Shown => *shown as f64,
        }
    }

    /// The share of all its votes, from 0 to 1.
    fn both_bad(&self) -> Option<f64> {
        let votes = self.row.standing.votes();
        (votes > 0).then(|| self.row.standing.both_bad as f64 / votes as f64)
    }
}

impl LadderSort {
    /// Whether the column is missing for some prompts: Elo depends on the order of all votes.
    fn needs_all_votes(self) -> bool {
        matches!(self, Self::Elo | Self::Change)
    }

    fn usual_order(self) -> SortOrder {
        if self == Self::Model { SortOrder::Asc } else { SortOrder::Desc }
    }
}

impl SortOrder {
    fn name(self) -> &'static str {
        if self == Self::Asc { "asc" } else { "desc" }
    }

    /// The value of `aria-sort`.
    fn word(self) -> &'static str {
        if self == Self::Asc { "ascending" } else { "descending" }
    }

    fn reversed(self) -> Self {
        if self == Self::Asc { Self::Desc } else { Self::Asc }
    }
}

impl LeaderboardPage {
    /// The age of the statistics, in words.
    fn counted_ago(&self) -> String {
        let ago = (OffsetDateTime::now_utc() - self.board.stats.computed_at).whole_seconds().max(0);
        match ago {
            0..=1 => "a moment ago".to_owned(),
            2..=119 => format!("{ago} seconds ago"),
            _ => format!("{} minutes ago", ago / 60),
        }
    }

    /// The number of votes of the model with the most.
    fn most_votes(&self) -> i64 {
        self.board.rows.iter().map(|row| row.standing.votes()).max().unwrap_or(0)
    }

    fn equal_size(&self) -> Option<&EqualSizeFit> {
        self.board.stats.fit.equal_size.as_ref()
    }

    fn shows_references(&self) -> bool {
        self.lines.iter().any(|line| line.row.model.is_reference())
    }

    fn name_of(&self, key: &ModelKey) -> &str {
        self.board.row(key).map_or("another model", |row| row.model.display_name.as_str())
    }
}
