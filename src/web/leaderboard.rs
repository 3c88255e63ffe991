//! `/leaderboard` and `/api/leaderboard`: who stands where; `/leaderboard/pairs`: who beats whom, by which
//! votes.

pub(super) mod api;
mod pairs;

use std::collections::BTreeSet;
use std::sync::Arc;

use askama::Template;
use askama_web::WebTemplate;
use axum::extract::State;
use axum::routing::get;
use moka::future::Cache;
use serde::{Deserialize, Serialize};
use time::OffsetDateTime;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::charts::{Axis, Heatmap, Interval, Lines};
use super::query::{PageQuery, escaped};
use super::{Card, Error, Page, filters};
use crate::app::App;
use crate::arena::ModelKey;
use crate::arena::leaderboard::{LadderEntry, Leaderboard, StandingChange};

/// A model with fewer votes has no skill.
const MIN_VOTES_FOR_SKILL: i64 = crate::arena::skill::MIN_VOTES_FOR_SKILL as i64;

pub(super) fn routes() -> OpenApiRouter<App> {
    let drawn = DrawnCharts::new(MOST_CHARTS);
    OpenApiRouter::new()
        .route("/leaderboard", get(move |app, query| page(app, query, drawn)))
        .route("/leaderboard/pairs", get(pairs::page))
        .routes(routes!(api::leaderboard))
}

/// The page's query; a form sends empty fields for what is not chosen.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct Chosen {
    provider: String,
    tag: String,
    sort: Option<Sort>,
    order: Option<Order>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Sort {
    Elo,
    Model,
    Change,
    Skill,
    Votes,
    Won,
    Lost,
    Tied,
    BothBad,
    Shown,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Order {
    Asc,
    Desc,
}

/// What the table can be sorted by, from left to right.
const COLUMNS: [(Sort, &str); 10] = [
    (Sort::Model, "Model"),
    (Sort::Elo, "Elo"),
    (Sort::Change, "24 h"),
    (Sort::Skill, "Skill"),
    (Sort::Votes, "Votes"),
    (Sort::Won, "Won"),
    (Sort::Lost, "Lost"),
    (Sort::Tied, "Tied"),
    (Sort::BothBad, "Both bad"),
    (Sort::Shown, "Shown"),
];

#[derive(Template, WebTemplate)]
#[template(path = "leaderboard.html")]
struct LeaderboardPage {
    page: Page,
    settings: String,
    chosen: Chosen,
    board: Arc<Leaderboard>,
    lines: Vec<Line>,
    providers: Vec<String>,
    tags: Vec<String>,
    axis: Option<Axis>,
    /// As HTML.
    charts: Arc<str>,
}

/// What follows from the statistics alone.
#[derive(Template)]
#[template(path = "leaderboard_charts.html")]
struct Charts<'a> {
    chosen: &'a Chosen,
    heatmap: Option<Heatmap>,
    history: Option<Lines>,
}

/// Charts that were drawn, by what they show. With sixty models they are most of the page, and of the work on it.
type DrawnCharts = Cache<ChartsKey, Arc<str>>;

/// The tag, when the statistics were worked out, and the models in their order.
type ChartsKey = (String, OffsetDateTime, Vec<(ModelKey, String)>);

/// So many are kept; a large one has a megabyte.
const MOST_CHARTS: u64 = 16;

/// A row of the table.
struct Line {
    row: LadderEntry,
    change: StandingChange,
    interval: Option<Interval>,
}

async fn page(
    State(app): State<App>,
    PageQuery(mut chosen): PageQuery<Chosen>,
    drawn: DrawnCharts,
) -> Result<LeaderboardPage, Error> {
    let tags = app.arena.lineup().await?.tags().to_vec();
    if !tags.contains(&chosen.tag) {
        chosen.tag.clear();
    }
    let board = board(&app, &chosen.tag).await?;
    let providers: BTreeSet<_> = board.rows.iter().map(|row| row.model.provider.clone()).collect();
    if !providers.contains(&chosen.provider) {
        chosen.provider.clear();
    }
    let axis = Axis::over(&board.rows);
    let mut lines = lines(&board, axis.as_ref());
    lines.retain(|line| chosen.provider.is_empty() || line.row.model.provider == chosen.provider);
    chosen.sort(&mut lines);
    Ok(LeaderboardPage {
        page: Page::at("/leaderboard").with_card(Card::of_the_ladder()),
        settings: app.arena.settings.to_string(),
        charts: charts(&drawn, &board, &chosen).await?,
        providers: providers.into_iter().collect(),
        tags,
        chosen,
        board,
        lines,
        axis,
    })
}

async fn charts(drawn: &DrawnCharts, board: &Leaderboard, chosen: &Chosen) -> Result<Arc<str>, Error> {
    let rows = board.rows_as_of_stats();
    let models = rows.iter().map(|row| (row.model.key.clone(), row.model.display_name.clone()));
    let key = (chosen.tag.clone(), board.stats.computed_at, models.collect());
    if let Some(charts) = drawn.get(&key).await {
        return Ok(charts);
    }
    let models = rows.iter().map(|row| (&row.model.key, row.model.display_name.as_str()));
    let charts = Charts {
        chosen,
        heatmap: Heatmap::of(&rows, &board.stats.duels),
        history: Lines::of(&board.stats.history.lines, models),
    };
    let charts: Arc<str> = charts.render().map_err(anyhow::Error::from)?.into();
    drawn.insert(key, Arc::clone(&charts)).await;
    Ok(charts)
}

/// The whole ladder, or that of a tag.
async fn board(app: &App, tag: &str) -> Result<Arc<Leaderboard>, Error> {
    match tag {
        "" => Ok(Arc::new(app.arena.leaderboard().await?)),
        tag => Ok(app.arena.tag_ladder(tag).await?),
    }
}

fn lines(board: &Leaderboard, axis: Option<&Axis>) -> Vec<Line> {
    let line = |(row, change): (&LadderEntry, StandingChange)| Line {
        interval: axis.zip(row.skill.as_ref()).map(|(axis, skill)| axis.interval(skill)),
        row: row.clone(),
        change,
    };
    board.rows.iter().zip(board.changes()).map(line).collect()
}

impl Chosen {
    /// The lines come by rank, which decides between equals.
    fn sort(&self, lines: &mut [Line]) {
        let sort = self.sort_by();
        if sort == Sort::Model {
            lines.sort_by_key(|line| line.row.model.display_name.to_lowercase());
        } else {
            lines.sort_by(|a, b| b.measure(sort).total_cmp(&a.measure(sort)));
        }
        if self.order() != sort.usual_order() {
            lines.reverse();
        }
    }

    /// By rank, unless another column was asked for.
    fn sort_by(&self) -> Sort {
        self.sort.unwrap_or(if self.tag.is_empty() { Sort::Elo } else { Sort::Skill })
    }

    fn order(&self) -> Order {
        self.order.unwrap_or(self.sort_by().usual_order())
    }

    fn is_filtered(&self) -> bool {
        !self.provider.is_empty() || !self.tag.is_empty()
    }

    fn heads(&self) -> [Head; 10] {
        COLUMNS.map(|(sort, word)| self.head(sort, word))
    }

    /// Sorts by its column, and the other way around when asked again.
    fn head(&self, sort: Sort, word: &'static str) -> Head {
        let current = self.sort_by() == sort;
        let order = if current { self.order().reversed() } else { sort.usual_order() };
        let mut address = format!("/leaderboard?sort={}", sort.name());
        if order != sort.usual_order() {
            address.push_str("&order=");
            address.push_str(order.name());
        }
        for (name, value) in [("provider", &self.provider), ("tag", &self.tag)] {
            if !value.is_empty() {
                address.push_str(&format!("&{name}={}", escaped(value)));
            }
        }
        Head { sort, word, address: format!("{address}#ladder"), order: current.then(|| self.order()) }
    }

    /// Where all pairs are.
    fn pairs(&self) -> String {
        pairs::address(None, &self.tag, 1)
    }

    /// Where the votes on one pair are.
    fn pair(&self, a: &ModelKey, b: &ModelKey) -> String {
        pairs::address(Some((a.as_str(), b.as_str())), &self.tag, 1)
    }
}

/// The head of a column.
struct Head {
    sort: Sort,
    word: &'static str,
    address: String,
    /// If the table is sorted by it.
    order: Option<Order>,
}

impl Line {
    /// What a column sorts by; unknown values are the least.
    fn measure(&self, sort: Sort) -> f64 {
        let LadderEntry { standing, skill, shown, .. } = &self.row;
        match sort {
            Sort::Elo | Sort::Model => standing.elo,
            Sort::Change => match self.change {
                StandingChange::New => f64::NEG_INFINITY,
                StandingChange::Moved { elo, .. } => elo,
            },
            Sort::Skill => skill.as_ref().map_or(f64::NEG_INFINITY, |skill| skill.rating),
            Sort::Votes => standing.votes() as f64,
            Sort::Won => standing.wins as f64,
            Sort::Lost => standing.losses as f64,
            Sort::Tied => standing.ties as f64,
            Sort::BothBad => self.both_bad().unwrap_or(-1.0),
            Sort::Shown => *shown as f64,
        }
    }

    /// Of all votes, from 0 to 1.
    fn both_bad(&self) -> Option<f64> {
        let votes = self.row.standing.votes();
        (votes > 0).then(|| self.row.standing.both_bad as f64 / votes as f64)
    }
}

impl Sort {
    fn name(self) -> &'static str {
        match self {
            Self::Elo => "elo",
            Self::Model => "model",
            Self::Change => "change",
            Self::Skill => "skill",
            Self::Votes => "votes",
            Self::Won => "won",
            Self::Lost => "lost",
            Self::Tied => "tied",
            Self::BothBad => "both-bad",
            Self::Shown => "shown",
        }
    }

    /// What a tag's votes alone have none of: Elo depends on the order of all votes.
    fn is_of_the_whole_ladder(self) -> bool {
        matches!(self, Self::Elo | Self::Change)
    }

    fn usual_order(self) -> Order {
        if self == Self::Model { Order::Asc } else { Order::Desc }
    }
}

impl Order {
    fn name(self) -> &'static str {
        match self {
            Self::Asc => "asc",
            Self::Desc => "desc",
        }
    }

    /// As ARIA has it.
    fn word(self) -> &'static str {
        match self {
            Self::Asc => "ascending",
            Self::Desc => "descending",
        }
    }

    fn reversed(self) -> Self {
        match self {
            Self::Asc => Self::Desc,
            Self::Desc => Self::Asc,
        }
    }
}

impl LeaderboardPage {
    /// How long ago the statistics were worked out, in words.
    fn counted_ago(&self) -> String {
        let ago = (self.board.as_of - self.board.stats.computed_at).whole_seconds().max(0);
        match ago {
            0..=1 => "a moment ago".to_owned(),
            2..=119 => format!("{ago} seconds ago"),
            _ => format!("{} minutes ago", ago / 60),
        }
    }

    /// The most votes that any model has.
    fn most_votes(&self) -> i64 {
        self.board.rows.iter().map(|row| row.standing.votes()).max().unwrap_or(0)
    }

    fn shows_references(&self) -> bool {
        self.lines.iter().any(|line| line.row.model.is_reference())
    }

    fn name_of(&self, key: &ModelKey) -> &str {
        self.board.row(key).map_or("another model", |row| row.model.display_name.as_str())
    }
}
