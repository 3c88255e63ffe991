//! `/builds`: the gallery; `/builds/{id}`: a build.

use askama::Template;
use askama_web::WebTemplate;
use axum::Router;
use axum::extract::{Path, State};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use serde::Deserialize;
use uuid::Uuid;

use crate::app::App;
use crate::arena::builds::{self, Build};
use crate::arena::catalog::{self, ContestantKind, SelectOption};
use crate::arena::gallery::{self, BuildCard, GalleryFilter, GallerySort, PAGE};
use crate::arena::judgements::{BuildJudgements, ScoreSpread};
use crate::generate::ThinkingEffort;
use crate::judge::criteria::{CriteriaText, CriterionSet};
use crate::web::api::builds::{BuildAccess, BuildDetails, GenerationView, find_details, no_build, parse_id};
use crate::web::api::models::find_profile;
use crate::web::filters::capitalised;
use crate::web::pager::{PageLink, page_count, page_links};
use crate::web::pictures::damaged_build;
use crate::web::query::{self, PageNumber, PageQuery};
use crate::web::voter::ClientAddress;
use crate::web::{Error, Page, ShareCard, filters};
use crate::work::WorkClient;
use voxel::{Block, Bounds, Format, GridSize, Palette};

/// Larger specs, compressed, are not shown on the page.
const MAX_SHOWN_SPEC_BYTES: usize = 1 << 15;

pub(in crate::web) fn routes() -> Router<App> {
    Router::new().route("/builds", get(gallery)).route("/builds/{id}", get(build))
}

/// The query of the gallery. A form sends an empty field for what is not chosen.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct GalleryQuery {
    prompt: String,
    model: String,
    grid: Option<GridSize>,
    palette: Option<Palette>,
    kind: ContestantKind,
    sort: GallerySort,
    page: PageNumber,
}

#[derive(Template, WebTemplate)]
#[template(path = "gallery.html")]
struct GalleryPage {
    page: Page,
    chosen: GalleryQuery,
    prompts: Vec<SelectOption>,
    models: Vec<SelectOption>,
    /// Whether any agent builds.
    has_agents: bool,
    cards: Vec<BuildCard>,
    total: i64,
    pages: Vec<PageLink>,
}

async fn gallery(
    State(app): State<App>,
    PageQuery(chosen): PageQuery<GalleryQuery>,
) -> Result<GalleryPage, Error> {
    let chosen = chosen.without_unknown(&app).await?;
    let filter = chosen.filter();
    let mut number = chosen.page.get();
    let (mut cards, total) = gallery::page(&app.replica, &filter, number - 1).await?;
    if number > last_page(total) {
        number = last_page(total);
        (cards, _) = gallery::page(&app.replica, &filter, number - 1).await?;
    }
    Ok(GalleryPage {
        page: Page::at("/builds"),
        has_agents: chosen.kind != ContestantKind::All || catalog::has_agents(&app.replica).await?,
        prompts: catalog::prompts_with_builds(&app.replica).await?,
        models: catalog::models_with_builds(&app.replica).await?,
        pages: page_links(number, last_page(total), |number| chosen.address(number)),
        chosen,
        cards,
        total,
    })
}

impl GalleryQuery {
    /// Without filters by prompts and models that do not exist.
    async fn without_unknown(mut self, app: &App) -> Result<Self, Error> {
        if !self.prompt.is_empty() && gallery::prompt(&app.pool, &self.prompt).await?.is_none() {
            self.prompt.clear();
        }
        if find_profile(app, &self.model).await?.is_none() {
            self.model.clear();
        }
        Ok(self)
    }

    fn filter(&self) -> GalleryFilter {
        let given = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        GalleryFilter {
            prompt: given(&self.prompt),
            model: given(&self.model),
            grid_size: self.grid,
            palette: self.palette,
            kind: self.kind,
            sort: self.sort,
        }
    }

    fn is_filtered(&self) -> bool {
        let GalleryFilter { prompt, model, grid_size, palette, kind, sort: _ } = self.filter();
        let is_narrowed = kind != ContestantKind::All;
        prompt.is_some() || model.is_some() || grid_size.is_some() || palette.is_some() || is_narrowed
    }

    fn address(&self, page: i64) -> String {
        let fields = [
            ("prompt", self.prompt.as_str()),
            ("model", &self.model),
            ("grid", &self.grid.map(|grid| grid.to_string()).unwrap_or_default()),
            ("palette", self.palette.map(Palette::name).unwrap_or_default()),
            ("kind", self.kind.in_address()),
            ("sort", if self.sort == GallerySort::default() { "" } else { self.sort.name() }),
            ("page", &page.to_string()),
        ];
        query::address("/builds", &fields)
    }
}

/// An empty gallery has one page.
fn last_page(total: i64) -> i64 {
    page_count(total, PAGE).max(1)
}

#[derive(Template, WebTemplate)]
#[template(path = "build.html")]
struct BuildPage {
    page: Page,
    build: Build,
    bounds: Option<Bounds>,
    /// The formats in which it can be downloaded.
    formats: Vec<Format>,
    materials: Vec<MaterialView>,
    summary: String,
    /// None if it is not for this visitor.
    digest: Option<String>,
    made: String,
    /// None if the build was imported.
    generation: Option<GenerationView>,
    /// None if the spec is too long to show.
    spec: Option<String>,
    judgements: BuildJudgements,
    /// Those that apply to builds.
    criteria: CriterionSet,
}

/// The number of one kind of block in a build.
struct MaterialView {
    id: &'static str,
    name: String,
    count: u32,
    /// In percent of the most frequent block.
    bar: u32,
}

async fn build(
    State(app): State<App>,
    address: ClientAddress,
    access: BuildAccess,
    Path(build): Path<String>,
) -> Result<Response, Error> {
    let client = address.client();
    let BuildDetails { build, generation, stats, digest, cache_control } =
        find_details(&app, client, &access, parse_id(&build)?).await?;
    let materials = materials(&stats.blocks());
    let title = format!("{} by {}", capitalised(&build.prompt_text), build.model_name);
    let alt = format!("{title}, built with blocks.");
    let page = BuildPage {
        page: Page::at("/builds").with_card(ShareCard::of("builds", build.id, title, alt)),
        bounds: stats.bounds,
        formats: formats(stats.bounds),
        summary: summary(stats.bounds, stats.block_count, &materials),
        digest,
        made: made(&build),
        generation,
        spec: spec(&app, client, build.id).await?,
        judgements: app.arena.shown_judgements(build.id).await?,
        criteria: CriteriaText::build().applicable(),
        materials,
        build,
    };
    Ok((cache_control, page).into_response())
}

/// Where most people's scores start on a scale of 100 units, and the length: one standard deviation to each side.
fn people_band(spread: &ScoreSpread) -> (f64, f64) {
    let from = 10.0 * (spread.mean - spread.spread).max(0.0);
    (from, 10.0 * (spread.mean + spread.spread).min(10.0) - from)
}

/// The text of a build's spec, if it is short enough to show.
async fn spec(app: &App, client: WorkClient, id: Uuid) -> Result<Option<String>, Error> {
    let packed = builds::spec(&app.pool, id).await?.ok_or_else(no_build)?;
    if packed.len() > MAX_SHOWN_SPEC_BYTES {
        return Ok(None);
    }
    let text = app.work.run(client, move || builds::unpack_spec(&packed)).await?.map_err(damaged_build)?;
    Ok(String::from_utf8(text).ok().filter(|text| text.len() <= 8 * MAX_SHOWN_SPEC_BYTES))
}

fn formats(bounds: Option<Bounds>) -> Vec<Format> {
    let takes = |format: &Format| bounds.is_some_and(|bounds| format.takes(bounds));
    Format::ALL.into_iter().filter(takes).collect()
}

/// The formats for any build of a grid of this size.
pub(in crate::web) fn formats_of_grid(edge: u16) -> Vec<Format> {
    formats(Some(Bounds { min: [0; 3], max: [edge.saturating_sub(1); 3] }))
}

fn materials(blocks: &[(&'static Block, u32)]) -> Vec<MaterialView> {
    let most = blocks.first().map_or(1, |&(_, count)| count);
    let material = |&(block, count): &(&'static Block, u32)| MaterialView {
        id: &block.id,
        name: block.name(),
        count,
        bar: (u64::from(count) * 100).div_ceil(u64::from(most)) as u32,
    };
    blocks.iter().map(material).collect()
}

/// A description for visitors who cannot see the build.
fn summary(bounds: Option<Bounds>, block_count: u32, materials: &[MaterialView]) -> String {
    let Some(bounds) = bounds else { return "An empty grid.".to_owned() };
    let [x, y, z] = bounds.spans();
    let most: Vec<String> = materials.iter().take(3).map(|material| material.name.to_lowercase()).collect();
    format!("{block_count} blocks, {x} wide, {y} high and {z} deep, mostly {}.", most.join(", "))
}

impl GenerationView {
    fn options_text(&self) -> Option<String> {
        let options = self.options?;
        Some(options_text(options.effort, options.temperature, options.max_output_tokens))
    }

    fn sent_text(&self) -> Option<String> {
        let sent = self.sent.as_ref()?;
        let options = options_text(sent.effort, sent.temperature, sent.max_output_tokens);
        Some(format!("{options}, {}", if sent.schema { "JSON schema" } else { "no JSON schema" }))
    }

    /// The agent that was asked, as it said itself.
    fn agent_text(&self) -> Option<String> {
        let agent = self.sent.as_ref()?.agent.as_ref()?;
        let digest = agent.digest.get(..12).unwrap_or(&agent.digest);
        let card = format!("{} {}, A2A {}", agent.name, agent.version, agent.protocol);
        Some(format!("{card}, at {}, card {digest}", agent.host))
    }

    fn tokens(&self) -> Option<String> {
        let (tokens_in, tokens_out) = (self.tokens_in?, self.tokens_out?);
        let thinking = self.tokens_reasoning.filter(|tokens| *tokens > 0);
        let thinking = thinking.map(|tokens| format!(", {} of them thinking", filters::format_count(tokens)));
        let [tokens_in, tokens_out] = [tokens_in, tokens_out].map(filters::format_count);
        Some(format!("{tokens_in} in, {tokens_out} out{}", thinking.unwrap_or_default()))
    }

    fn cost_text(&self) -> String {
        filters::format_cost(self.cost, self.cost_is_minimum)
    }

    fn is_batched(&self) -> bool {
        self.changes.iter().any(|step| step == "batch")
    }

    /// None if the provider took the request as it was.
    fn changes_text(&self) -> Option<String> {
        let changes = self.changes.iter().filter(|step| *step != "batch").map(filters::format_adjustment);
        let changes: Vec<_> = changes.collect();
        (!changes.is_empty()).then(|| changes.join(", "))
    }
}

fn options_text(
    effort: Option<ThinkingEffort>,
    temperature: Option<f64>,
    max_output_tokens: Option<u32>,
) -> String {
    let effort = effort.map(|effort| format!("effort {}", effort.name()));
    let temperature = temperature.map(|degree| format!("temperature {degree}"));
    let most = max_output_tokens
        .map(|tokens| format!("at most {} output tokens", filters::format_count(i64::from(tokens))));
    let given: Vec<_> = [effort, temperature, most].into_iter().flatten().collect();
    if given.is_empty() { "provider’s defaults".to_owned() } else { given.join(", ") }
}

fn made(build: &Build) -> String {
    let day = build.created_at.date();
    match build.generation_time_ms {
        Some(ms) => format!("in {:.1} s, on {day}", ms as f64 / 1000.0),
        None => format!("imported on {day}"),
    }
}
