//! `/world`: the block world in which agents act, with pictures of its scenes, and the scenes to walk through.

use askama::Template;
use askama_web::WebTemplate;
use axum::Router;
use axum::body::Body;
use axum::extract::Path;
use axum::response::Response;
use axum::routing::get;
use buildoff_world::ENGINE;
use serde::Deserialize;
use voxel::codec::{self, CompressionLevel};
use world::{Scene, UnknownScene};

use crate::app::App;
use crate::web::body::MeteredBody;
use crate::web::derived::{ContentRequest, IMMUTABLE, Representation};
use crate::web::encoding::Encoding;
use crate::web::query::PageQuery;
use crate::web::{Error, Page};

/// The first steps in Python, which the tests run.
const EXAMPLE: &str = include_str!("../../../python/examples/first_steps.py");

/// The terrain that visitors walk through, of each scene.
const TERRAIN: u64 = 0;

/// A picture of a scene: its file, what is to be seen, and the words under it.
struct ScenePicture {
    file: &'static str,
    alt: &'static str,
    words: &'static str,
    /// The scene that can be walked through here.
    walk: Option<Scene>,
}

/// Made by `scripts/world-pictures`.
const PICTURES: [ScenePicture; 6] = [
    ScenePicture {
        file: "world/meadow.png",
        alt: "Grass with flowers, a pond and trees, and a hill on the right",
        words: "The meadow at noon",
        walk: Some(Scene::Meadow),
    },
    ScenePicture {
        file: "world/dusk.png",
        alt: "The same land under a dark blue sky with a red edge",
        words: "The meadow after sunset",
        walk: None,
    },
    ScenePicture {
        file: "world/cave.png",
        alt: "A hall of rock, lit by torches, with a dark tunnel behind",
        words: "The cave",
        walk: Some(Scene::Cave),
    },
    ScenePicture {
        file: "world/house.png",
        alt: "A room with a carpet, a hearth and three windows to a meadow",
        words: "In the house",
        walk: Some(Scene::House),
    },
    ScenePicture {
        file: "world/night.png",
        alt: "A house with lit windows in the dark",
        words: "The house at night",
        walk: None,
    },
    ScenePicture {
        file: "world/water.png",
        alt: "The sandy slopes of a pond in blue haze",
        words: "Under water",
        walk: None,
    },
];

pub(in crate::web) fn routes() -> Router<App> {
    Router::new().route("/world", get(world)).route("/world/scenes/{scene}/grid", get(grid))
}

#[derive(Template, WebTemplate)]
#[template(path = "world.html")]
struct WorldPage {
    page: Page,
    engine: &'static str,
}

impl ScenePicture {
    /// The address of the grid to walk through.
    fn grid(scene: &Scene) -> String {
        format!("/world/scenes/{scene}/grid?engine={ENGINE}")
    }

    /// Where walks begin, as the viewer's `start` has it. It turns to the left from the north, and a player to the right
    /// from the south.
    fn start(scene: &Scene) -> String {
        let ([x, y, z], yaw) = scene.start(TERRAIN);
        format!("{x} {y} {z} {}", 180.0 - f64::from(yaw) / 1000.0)
    }
}

async fn world() -> WorldPage {
    WorldPage { page: Page::at("/world"), engine: ENGINE }
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct SceneGridQuery {
    engine: String,
}

/// The land of a scene as the grid of a build. The engine decides all of it, so it never changes under an address that
/// names the engine.
async fn grid(
    ContentRequest { app, client, encoding, headers }: ContentRequest,
    Path(scene): Path<String>,
    PageQuery(query): PageQuery<SceneGridQuery>,
) -> Result<Response, Error> {
    let scene: Scene =
        scene.parse().map_err(|unknown: UnknownScene| Error::not_found(unknown.to_string()))?;
    let encoding = encoding.brotli_or_plain();
    let name = format!("{scene}-{TERRAIN}-{ENGINE}");
    let bytes = async {
        // It is kept among the pictures, which are made and shared in the same way.
        let pack = async { Ok::<_, Error>(move || Ok(packed_grid(scene))) };
        let packed = app.pictures.get(client, format!("world-{name}").into(), pack).await?;
        let bytes = match encoding {
            Encoding::Brotli => packed,
            _ => {
                let unpack = move || codec::unpack(&packed);
                app.work.run(client, unpack).await?.map_err(Error::internal)?.into()
            }
        };
        Ok(Body::new(MeteredBody::reserved(&app, client, bytes).await?))
    };
    let cache_control = if query.engine == ENGINE { IMMUTABLE } else { "no-cache" };
    let kind = "application/octet-stream";
    Representation { kind, name: &name, encoding, cache_control }.respond(&headers, bytes).await
}

/// Making the land takes a second.
fn packed_grid(scene: Scene) -> Vec<u8> {
    let grid = scene.make(TERRAIN).volume.grid();
    codec::pack(&codec::encode(&grid), CompressionLevel::Fast)
}
