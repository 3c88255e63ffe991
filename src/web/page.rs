//! What the layout needs to know about the page it frames.

use std::fmt::Display;

use axum::extract::Request;
use axum::http::HeaderMap;
use axum::http::header::HOST;
use axum::middleware::Next;
use axum::response::Response;

use super::assets;
use super::textures;

tokio::task_local! {
    /// The address that this task answers. Links that are read elsewhere need the site's name in them.
    static PAGE_LOCATION: PageLocation;
}

#[derive(Clone, Default)]
struct PageLocation {
    /// As in `https://example.org`.
    site: String,
    /// None where a query selects one view of several, or `PUBLIC_URL` is not set: such a page has no canonical
    /// address.
    path: Option<String>,
}

/// Makes the address of a request known to the pages inside.
pub(super) async fn provide_location(public_url: Option<String>, request: Request, next: Next) -> Response {
    let has_name = public_url.is_some() && request.uri().query().is_none();
    let path = has_name.then(|| request.uri().path().to_owned());
    let site = public_url.unwrap_or_else(|| format!("http://{}", host(request.headers())));
    PAGE_LOCATION.scope(PageLocation { site, path }, next.run(request)).await
}

/// Carries the address into another task.
pub(super) fn inherit_location<F: Future>(inside: F) -> impl Future<Output = F::Output> {
    PAGE_LOCATION.scope(PAGE_LOCATION.try_with(PageLocation::clone).unwrap_or_default(), inside)
}

/// The `Host` of a request, for examples that people paste into a shell: with characters that no host's name has, it is
/// replaced by `localhost:3000`.
pub(super) fn host(headers: &HeaderMap) -> &str {
    let is_harmless = |byte: u8| byte.is_ascii_alphanumeric() || b"-.:[]".contains(&byte);
    let name = headers.get(HOST).and_then(|value| value.to_str().ok());
    name.filter(|name| !name.is_empty() && name.bytes().all(is_harmless)).unwrap_or("localhost:3000")
}

/// An entry of a menu: its address and its words.
type MenuEntry = (&'static str, &'static str);

/// The main menu: sections with their entries, in reading order. A section leads to its first entry.
const SECTIONS: [(&str, &[MenuEntry]); 4] = [
    (
        "Arena",
        &[
            ("/", "Vote"),
            ("/judge", "Judge"),
            ("/leaderboard", "Leaderboard"),
            ("/judges", "Judges"),
            ("/builds", "Builds"),
            ("/prompts", "Prompts"),
        ],
    ),
    (
        "Agents",
        &[("/agents", "Boards"), ("/agents/connect", "Connect"), ("/world", "World"), ("/tasks", "Tasks")],
    ),
    ("Sandbox", &[("/sandbox", "Sandbox")]),
    ("Docs", &[("/about", "How it works"), ("/format", "Format"), ("/blocks", "Blocks"), ("/api", "API")]),
];

/// The menu of the admin's console.
const CONSOLE: [MenuEntry; 7] = [
    ("/admin", "Coverage"),
    ("/admin/jobs", "Jobs"),
    ("/admin/models", "Models"),
    ("/admin/agents", "Agents"),
    ("/admin/prompts", "Prompts"),
    ("/admin/votes", "Votes"),
    ("/admin/audit", "Log"),
];

/// Every page has one, in a field named `page`.
pub struct Page {
    menu_path: &'static str,
    location: PageLocation,
    pub card: ShareCard,
}

/// The picture of a page where its link is shared.
pub struct ShareCard {
    path: String,
    pub title: String,
    pub alt: String,
}

impl Page {
    /// `menu_path` is the entry of the menu that the page belongs to.
    pub fn at(menu_path: &'static str) -> Self {
        let location = PAGE_LOCATION.try_with(PageLocation::clone).unwrap_or_default();
        Self { menu_path, location, card: ShareCard::for_site() }
    }

    /// For pages without an address to share, such as errors.
    pub fn without_address() -> Self {
        let mut page = Self::at("");
        page.location.path = None;
        page
    }

    pub fn with_card(self, card: ShareCard) -> Self {
        Self { card, ..self }
    }

    /// Its canonical address.
    pub fn address(&self) -> Option<String> {
        self.location.path.as_ref().map(|path| format!("{}{path}", self.location.site))
    }

    /// The site's own address, so that examples work as they are pasted.
    pub fn site(&self) -> &str {
        &self.location.site
    }

    pub fn card_address(&self) -> String {
        format!("{}{}", self.location.site, self.card.path)
    }

    pub fn sections(&self) -> impl Iterator<Item = MenuItem> {
        let current = self.section();
        SECTIONS.iter().filter_map(move |&(word, entries)| {
            let &(address, _) = entries.first()?;
            Some(MenuItem { address, word, current: current == Some(word) })
        })
    }

    /// The name of the section that the page belongs to.
    pub fn section(&self) -> Option<&'static str> {
        let is_here = |entries: &[MenuEntry]| entries.iter().any(|&(address, _)| address == self.menu_path);
        SECTIONS.iter().find(|(_, entries)| is_here(entries)).map(|&(word, _)| word)
    }

    /// The entries of that section; none if it has only one.
    pub fn section_menu(&self) -> Vec<MenuItem> {
        let section = self.section();
        let entries = SECTIONS.iter().find(|(word, _)| Some(*word) == section).map(|&(_, entries)| entries);
        self.marked(entries.filter(|entries| entries.len() > 1).unwrap_or_default()).collect()
    }

    pub fn console_menu(&self) -> impl Iterator<Item = MenuItem> {
        self.marked(&CONSOLE)
    }

    pub fn is_home(&self) -> bool {
        self.menu_path == "/"
    }

    /// The address of a file in `static/`.
    pub fn asset(&self, path: &str) -> String {
        assets::url(path)
    }

    /// The address of the viewer's textures.
    pub fn textures(&self) -> String {
        textures::url()
    }

    pub fn version(&self) -> &'static str {
        env!("CARGO_PKG_VERSION")
    }

    fn marked(&self, menu: &'static [MenuEntry]) -> impl Iterator<Item = MenuItem> + use<> {
        let menu_path = self.menu_path;
        menu.iter().map(move |&(address, word)| MenuItem { address, word, current: address == menu_path })
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

    /// `kind` is as in the addresses of pages; `key` needs no escaping there.
    pub fn of(kind: &str, key: impl Display, title: String, alt: String) -> Self {
        Self { path: format!("/cards/{kind}/{key}.png"), title, alt }
    }
}

pub struct MenuItem {
    pub address: &'static str,
    pub word: &'static str,
    pub current: bool,
}
