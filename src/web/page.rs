//! What the layout needs to know about the page it frames.

use std::fmt::Display;

use axum::extract::Request;
use axum::middleware::Next;
use axum::response::Response;

use super::format::host;
use super::{assets, blocks};

tokio::task_local! {
    /// The page that is asked for in this task. Links that are read elsewhere say the whole of it.
    static ASKED: Asked;
}

#[derive(Clone, Default)]
struct Asked {
    site: String,
    /// None where a query shows one view of several, or nobody has said what the site is called.
    path: Option<String>,
}

/// Lets pages inside know their own address.
pub(super) async fn addressed(public_url: Option<String>, request: Request, next: Next) -> Response {
    let has_name = public_url.is_some() && request.uri().query().is_none();
    let path = has_name.then(|| request.uri().path().to_owned());
    let site = public_url.unwrap_or_else(|| format!("http://{}", host(request.headers())));
    ASKED.scope(Asked { site, path }, next.run(request)).await
}

/// Lets pages in another task know the same address.
pub(super) fn carried_over<F: Future>(inside: F) -> impl Future<Output = F::Output> {
    ASKED.scope(ASKED.try_with(Asked::clone).unwrap_or_default(), inside)
}

/// The main menu, in reading order: address and word.
const MENU: [(&str, &str); 8] = [
    ("/", "Arena"),
    ("/leaderboard", "Leaderboard"),
    ("/builds", "Builds"),
    ("/prompts", "Prompts"),
    ("/sandbox", "Sandbox"),
    ("/blocks", "Blocks"),
    ("/format", "Format"),
    ("/about", "About"),
];

/// The console's.
const CONSOLE: [(&str, &str); 4] = [
    ("/admin", "Coverage"),
    ("/admin/models", "Models"),
    ("/admin/prompts", "Prompts"),
    ("/admin/audit", "Log"),
];

/// Every page's template has one, in a field named `page`.
pub struct Page {
    here: &'static str,
    asked: Asked,
    card: Card,
}

/// The picture that stands for a page where it is shared.
pub struct Card {
    /// On this site.
    path: String,
    pub title: String,
    pub alt: String,
}

impl Page {
    /// `here` is the page's own address, so that the menu can mark it.
    pub fn at(here: &'static str) -> Self {
        let asked = ASKED.try_with(Asked::clone).unwrap_or_default();
        Self { here, asked, card: Card::of_the_site() }
    }

    /// For pages that stand for no address, such as errors.
    pub fn nowhere() -> Self {
        let mut page = Self::at("");
        page.asked.path = None;
        page
    }

    pub fn with_card(self, card: Card) -> Self {
        Self { card, ..self }
    }

    /// The one address of what it shows.
    pub fn address(&self) -> Option<String> {
        self.asked.path.as_ref().map(|path| format!("{}{path}", self.asked.site))
    }

    pub fn card_address(&self) -> String {
        format!("{}{}", self.asked.site, self.card.path)
    }

    pub fn card(&self) -> &Card {
        &self.card
    }

    pub fn menu(&self) -> impl Iterator<Item = MenuItem> {
        self.marked(MENU)
    }

    pub fn console_menu(&self) -> impl Iterator<Item = MenuItem> {
        self.marked(CONSOLE)
    }

    pub fn is_front(&self) -> bool {
        self.here == "/"
    }

    /// The address of a file in `static/`.
    pub fn asset(&self, path: &str) -> String {
        assets::url(path)
    }

    /// Where the viewer finds its textures.
    pub fn textures(&self) -> String {
        blocks::textures_url()
    }

    pub fn version(&self) -> &'static str {
        env!("CARGO_PKG_VERSION")
    }

    fn marked<const N: usize>(
        &self,
        menu: [(&'static str, &'static str); N],
    ) -> impl Iterator<Item = MenuItem> + use<N> {
        let here = self.here;
        menu.into_iter().map(move |(address, word)| MenuItem { address, word, current: address == here })
    }
}

impl Card {
    fn of_the_site() -> Self {
        let alt = "Two builds of one prompt, side by side. Which is better?";
        let title = "Buildoff, a voxel build arena";
        Self { path: "/cards/buildoff.png".to_owned(), title: title.to_owned(), alt: alt.to_owned() }
    }

    pub fn of_the_ladder() -> Self {
        Self {
            path: "/cards/leaderboard.png".to_owned(),
            title: "Which AI model builds best with blocks?".to_owned(),
            alt: "The leaderboard’s first three.".to_owned(),
        }
    }

    /// `kind` is as in the addresses of pages, `key` made of what needs no escaping there.
    pub fn of(kind: &str, key: impl Display, title: String, alt: String) -> Self {
        Self { path: format!("/cards/{kind}/{key}.png"), title, alt }
    }
}

pub struct MenuItem {
    pub address: &'static str,
    pub word: &'static str,
    pub current: bool,
}
