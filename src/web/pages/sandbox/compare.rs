//! `/sandbox/compare`: stored builds of the same prompt side by side. The query names them.

use askama::Template;
use askama_web::WebTemplate;
use axum::extract::{RawQuery, State};
use uuid::Uuid;

use crate::app::App;
use crate::arena::builds::{self, Build};
use crate::arena::catalog::{self, SelectOption};
use crate::arena::gallery::{self, BuildCard};
use crate::web::query::parameters;
use crate::web::{Error, Page, filters};

const MAX_BUILDS: usize = 4;

/// Why some of the requested builds are not shown.
const MISSING: &str = "Some of these builds could not be found.";
const OTHER_PROMPT: &str =
    "Only builds of the same prompt can be compared. Builds of other prompts are left out.";
const TOO_MANY: &str = "Only four builds fit side by side. The others are left out.";

#[derive(Template, WebTemplate)]
#[template(path = "sandbox/compare.html")]
pub(super) struct ComparePage {
    page: Page,
    prompts: Vec<SelectOption>,
    /// None until a prompt is chosen.
    prompt: Option<SelectOption>,
    /// The builds of the prompt.
    cards: Vec<BuildCard>,
    chosen: Vec<Build>,
    notices: Vec<&'static str>,
}

/// The query: `prompt`, and `build` up to four times.
#[derive(Default)]
struct CompareQuery {
    prompt: String,
    builds: Vec<Uuid>,
    notices: Vec<&'static str>,
}

pub(super) async fn page(State(app): State<App>, RawQuery(query): RawQuery) -> Result<ComparePage, Error> {
    let CompareQuery { prompt, builds, mut notices } =
        CompareQuery::read(query.as_deref().unwrap_or_default());
    let mut chosen: Vec<Build> = Vec::new();
    for id in builds {
        match builds::find(&app.pool, id).await?.filter(|build| !build.withheld) {
            None => add_notice(&mut notices, MISSING),
            Some(build) if chosen.first().is_some_and(|first| first.prompt_id != build.prompt_id) => {
                add_notice(&mut notices, OTHER_PROMPT);
            }
            Some(build) => chosen.push(build),
        }
    }
    let prompt = match (chosen.first(), prompt.as_str()) {
        (Some(build), _) => {
            Some(SelectOption { id: build.prompt_id.to_string(), name: build.prompt_text.clone() })
        }
        (None, "") => None,
        (None, id) => gallery::prompt(&app.pool, id)
            .await?
            .map(|prompt| SelectOption { id: prompt.id, name: prompt.text }),
    };
    let cards = match &prompt {
        Some(prompt) => gallery::of_prompt(&app.pool, &prompt.id).await?,
        None => Vec::new(),
    };
    let prompts = catalog::prompts_with_builds(&app.pool).await?;
    Ok(ComparePage { page: Page::at("/sandbox"), prompts, prompt, cards, chosen, notices })
}

impl CompareQuery {
    fn read(query: &str) -> Self {
        let mut parsed = Self::default();
        for (name, value) in parameters(query) {
            match &*name {
                "prompt" => parsed.prompt = value.into_owned(),
                "build" => match Uuid::try_parse(&value) {
                    Ok(id) if parsed.builds.contains(&id) => {}
                    Ok(_) if parsed.builds.len() == MAX_BUILDS => add_notice(&mut parsed.notices, TOO_MANY),
                    Ok(id) => parsed.builds.push(id),
                    Err(_) => add_notice(&mut parsed.notices, MISSING),
                },
                _ => {}
            }
        }
        parsed
    }
}

fn add_notice(notices: &mut Vec<&'static str>, notice: &'static str) {
    if !notices.contains(&notice) {
        notices.push(notice);
    }
}

impl ComparePage {
    fn is_chosen(&self, card: &BuildCard) -> bool {
        self.chosen.iter().any(|build| build.id == card.id)
    }

    fn is_prompt(&self, choice: &SelectOption) -> bool {
        self.prompt.as_ref() == Some(choice)
    }

    fn alone(&self) -> bool {
        self.chosen.len() == 1
    }

    /// The title of the page, with the names of the builds.
    fn title(&self) -> String {
        let names: Vec<_> = self.chosen.iter().map(|build| build.model_name.as_str()).collect();
        match (&self.prompt, names.len()) {
            (Some(prompt), 2..) => format!("{}: {}", prompt.name, names.join(", ")),
            (Some(prompt), _) => format!("Compare builds of “{}”", prompt.name),
            (None, _) => "Compare builds".to_owned(),
        }
    }
}
