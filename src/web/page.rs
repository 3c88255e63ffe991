//! What the layout needs to know about the page it frames.

use std::fmt::Display;

use axum::extract::Request;
use axum::middleware::Next;
use axum::response::Response;

use super::assets;
use super::pages::blocks;
use super::pages::format::host;

tokio::task_local! {
    /// The page that is asked for in this task. Links that are read elsewhere say the whole of it.
    static PAGE_LOCATION: PageLocation;
}

#[derive(Clone, Default)]
struct PageLocation {
    site: String,
    /// None where a query shows one view of several, or nobody has said what the site is called.
    path: Option<String>,
}

/// Lets pages inside know their own address.
pub(super) async fn provide_location(public_url: Option<String>, request: Request, next: Next) -> Response {
    let has_name = public_url.is_some() && request.uri().query().is_none();
    let path = has_name.then(|| request.uri().path().to_owned());
    let site = public_url.unwrap_or_else(|| format!("http://{}", host(request.headers())));
    PAGE_LOCATION.scope(PageLocation { site, path }, next.run(request)).await
}

/// Lets pages in another task know the same address.
pub(super) fn inherit_location<F: Future>(inside: F) -> impl Future<Output = F::Output> {
    PAGE_LOCATION.scope(PAGE_LOCATION.try_with(PageLocation::clone).unwrap_or_default(), inside)
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
    menu_path: &'static str,
    location: PageLocation,
    card: ShareCard,
}

/// The picture that stands for a page where it is shared.
pub struct ShareCard {
    /// On this site.
    path: String,
    pub title: String,
    pub alt: String,
}

impl Page {
    /// `menu_path` is the page's own address, so that the menu can mark it.
    pub fn at(menu_path: &'static str) -> Self {
        let location = PAGE_LOCATION.try_with(PageLocation::clone).unwrap_or_default();
        Self { menu_path, location, card: ShareCard::for_site() }
    }

    /// For pages that stand for no address, such as errors.
    pub fn without_address() -> Self {
        let mut page = Self::at("");
        page.location.path = None;
        page
    }

    pub fn with_card(self, card: ShareCard) -> Self {
        Self { card, ..self }
    }

    /// The one address of what it shows.
    pub fn address(&self) -> Option<String> {
        self.location.path.as_ref().map(|path| format!("{}{path}", self.location.site))
    }

    pub fn card_address(&self) -> String {
        format!("{}{}", self.location.site, self.card.path)
    }

    pub fn card(&self) -> &ShareCard {
        &self.card
    }

    pub fn menu(&self) -> impl Iterator<Item = MenuItem> {
        self.marked(MENU)
    }

    pub fn console_menu(&self) -> impl Iterator<Item = MenuItem> {
        self.marked(CONSOLE)
    }

    pub fn is_home(&self) -> bool {
        self.menu_path == "/"
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
        let menu_path = self.menu_path;
        menu.into_iter().map(move |(address, word)| MenuItem { address, word, current: address == menu_path })
    }
}

impl ShareCard {
    fn for_site() -> Self {
        let alt = "Two builds of one prompt, side by side. Which is better?";
        let title = "Buildoff, a voxel build arena";
        Self { path: "/cards/buildoff.png".to_owned(), title: title.to_owned(), alt: alt.to_owned() }
    }

    pub fn for_leaderboard() -> Self {
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
