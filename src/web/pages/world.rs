//! `/world`: the block world in which agents act, with pictures of its scenes.

use askama::Template;
use askama_web::WebTemplate;
use axum::Router;
use axum::routing::get;

use crate::app::App;
use crate::web::Page;

/// The first steps in Python, which the tests run.
const EXAMPLE: &str = include_str!("../../../python/examples/first_steps.py");

/// A picture of a scene: its file, what is to be seen, and the words under it.
struct ScenePicture {
    file: &'static str,
    alt: &'static str,
    words: &'static str,
}

/// Made by `scripts/world-pictures`.
const PICTURES: [ScenePicture; 6] = [
    ScenePicture {
        file: "world/meadow.png",
        alt: "Grass with flowers, a pond and trees, and a hill on the right",
        words: "The meadow at noon",
    },
    ScenePicture {
        file: "world/dusk.png",
        alt: "The same land under a dark blue sky with a red edge",
        words: "The meadow after sunset",
    },
    ScenePicture {
        file: "world/cave.png",
        alt: "A hall of rock, lit by torches, with a dark tunnel behind",
        words: "The cave",
    },
    ScenePicture {
        file: "world/house.png",
        alt: "A room with a carpet, a hearth and three windows to a meadow",
        words: "In the house",
    },
    ScenePicture {
        file: "world/night.png",
        alt: "A house with lit windows in the dark",
        words: "The house at night",
    },
    ScenePicture {
        file: "world/water.png",
        alt: "The sandy slopes of a pond in blue haze",
        words: "Under water",
    },
];

pub(in crate::web) fn routes() -> Router<App> {
    Router::new().route("/world", get(world))
}

#[derive(Template, WebTemplate)]
#[template(path = "world.html")]
struct WorldPage {
    page: Page,
    engine: &'static str,
}

async fn world() -> WorldPage {
    WorldPage { page: Page::at("/world"), engine: buildoff_world::ENGINE }
}
