//! `/sandbox/compare`: stored builds of one prompt side by side. The address says which.

use askama::Template;
use askama_web::WebTemplate;
use axum::extract::{RawQuery, State};
use url::form_urlencoded;
use uuid::Uuid;

use crate::app::App;
use crate::arena::builds::{self, Build};
use crate::arena::catalog::{self, Choice};
use crate::arena::gallery::{self, Card};
use crate::web::pictures::no_build;
use crate::web::{Error, Page, filters};

const MOST: usize = 4;

#[derive(Template, WebTemplate)]
#[template(path = "sandbox/compare.html")]
pub(super) struct Compare {
    page: Page,
    prompts: Vec<Choice>,
    /// None before one is chosen.
    prompt: Option<Choice>,
    /// What there is of it.
    cards: Vec<Card>,
    chosen: Vec<Build>,
}

/// The query: `prompt`, and `build` up to four times.
#[derive(Default)]
struct Asked {
    prompt: String,
    builds: Vec<Uuid>,
}

pub(super) async fn page(State(app): State<App>, RawQuery(query): RawQuery) -> Result<Compare, Error> {
    let asked = Asked::read(query.as_deref().unwrap_or_default())?;
    let mut chosen = Vec::new();
    for id in &asked.builds {
        chosen.push(builds::find(&app.pool, *id).await?.ok_or_else(no_build)?);
    }
    let prompts = catalog::prompts_with_builds(&app.pool).await?;
    let prompt = match (chosen.first(), asked.prompt.as_str()) {
        (Some(build), _) => Some(Choice { id: build.prompt_id.clone(), name: build.prompt_text.clone() }),
        (None, "") => None,
        (None, id) => Some(gallery::prompt(&app.pool, id).await?.ok_or_else(no_prompt)?)
            .map(|prompt| Choice { id: prompt.id, name: prompt.text }),
    };
    if chosen.iter().any(|build| Some(&build.prompt_id) != prompt.as_ref().map(|prompt| &prompt.id)) {
        return Err(wrong("These builds answer different prompts; compare builds of one."));
    }
    let cards = match &prompt {
        Some(prompt) => gallery::of_prompt(&app.pool, &prompt.id).await?,
        None => Vec::new(),
    };
    Ok(Compare { page: Page::at("/sandbox"), prompts, prompt, cards, chosen })
}

impl Asked {
    fn read(query: &str) -> Result<Self, Error> {
        let mut asked = Self::default();
        for (name, value) in form_urlencoded::parse(query.as_bytes()) {
            match &*name {
                "prompt" => asked.prompt = value.into_owned(),
                "build" => {
                    let id = Uuid::try_parse(&value).map_err(|_| no_build())?;
                    if !asked.builds.contains(&id) {
                        asked.builds.push(id);
                    }
                }
                _ => {}
            }
        }
        if asked.builds.len() > MOST {
            return Err(wrong("At most four builds fit side by side."));
        }
        Ok(asked)
    }
}

impl Compare {
    fn is_chosen(&self, card: &Card) -> bool {
        self.chosen.iter().any(|build| build.id == card.id)
    }

    fn is_prompt(&self, choice: &Choice) -> bool {
        self.prompt.as_ref() == Some(choice)
    }

    /// Retired builds and those of other settings can still be linked to.
    fn alone(&self) -> bool {
        self.chosen.len() == 1
    }

    /// Where it is said in more words what is compared.
    fn title(&self) -> String {
        let names: Vec<_> = self.chosen.iter().map(|build| build.model_name.as_str()).collect();
        match (&self.prompt, names.len()) {
            (Some(prompt), 2..) => format!("{}: {}", prompt.name, names.join(", ")),
            (Some(prompt), _) => format!("Compare builds of “{}”", prompt.name),
            (None, _) => "Compare builds".to_owned(),
        }
    }
}

fn no_prompt() -> Error {
    Error::not_found("There is no such prompt.")
}

fn wrong(message: &str) -> Error {
    Error::bad_request("bad_request", message.to_owned())
}
