//! What the layout needs to know about the page it frames.

use super::{assets, blocks};

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
}

impl Page {
    /// `here` is the page's own address, so that the menu can mark it.
    pub fn at(here: &'static str) -> Self {
        Self { here }
    }

    /// For pages that stand for no address, such as errors.
    pub fn nowhere() -> Self {
        Self { here: "" }
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

pub struct MenuItem {
    pub address: &'static str,
    pub word: &'static str,
    pub current: bool,
}
