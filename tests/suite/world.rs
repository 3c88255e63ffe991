//! The block world, as the program and the site offer it.

mod leaving;

use std::fs;
use std::path::Path;
use std::process::Command;

use buildoff_world::ENGINE;
use reqwest::header::{CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, ETAG, IF_NONE_MATCH};
use voxel::codec::{decode, unpack};
use voxel::{AIR, Block};
use world::Scene;

use crate::support::{BrowserPage, TestServer, open_page};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn the_pictures_of_the_page_are_what_the_engine_draws() {
    let folder = tempfile::tempdir().unwrap();
    let mut script = Command::new(root().join("scripts/world-pictures"));
    let run = script.arg(folder.path()).env("BUILDOFF", env!("CARGO_BIN_EXE_buildoff")).output().unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let mut count = 0;
    for file in fs::read_dir(folder.path()).unwrap() {
        let name = file.unwrap().file_name();
        let drawn = fs::read(folder.path().join(&name)).unwrap();
        let kept = fs::read(root().join("static/world").join(&name)).unwrap();
        assert!(drawn == kept, "{} is out of date: run scripts/world-pictures", name.display());
        count += 1;
    }
    assert_eq!(count, fs::read_dir(root().join("static/world")).unwrap().count());
}

#[tokio::test]
async fn the_page_shows_every_scene_and_the_package_s_own_example() {
    let server = TestServer::start().await;
    let page = open_page(&server.url_for("/world")).await;
    page.wait_until("[...document.querySelectorAll('.scenes img:not([loading=lazy])')].every(image => image.naturalWidth === 640)")
        .await;
    assert_eq!(page.eval::<usize>("document.querySelectorAll('.scenes img').length").await, 6);
    let example = fs::read_to_string(root().join("python/examples/first_steps.py")).unwrap();
    let shown: String =
        page.eval("document.querySelector('[aria-label=\"The first steps in Python\"]').textContent").await;
    assert_eq!(shown.trim(), example.trim());
    assert_eq!(page.text("[aria-label=Main] [aria-current]").await, "Agents");
}

#[tokio::test]
async fn a_scene_is_served_as_a_grid_that_browsers_keep() {
    let server = TestServer::start().await;
    let client = reqwest::Client::builder().no_brotli().no_gzip().build().unwrap();
    for (scene, kinds) in [
        (Scene::Meadow, ["grass_block", "water", "oak_log"]),
        (Scene::Cave, ["stone", "andesite", "gravel"]),
        (Scene::House, ["red_wool", "glass", "spruce_planks"]),
    ] {
        let address = server.url_for(&format!("/world/scenes/{scene}/grid?engine={ENGINE}"));
        let packed = client.get(&address).header("accept-encoding", "br").send().await.unwrap();
        let header = |name| packed.headers()[name].to_str().unwrap().to_owned();
        assert_eq!(header(CONTENT_TYPE), "application/octet-stream");
        assert_eq!(header(CONTENT_ENCODING), "br");
        assert_eq!(header(CACHE_CONTROL), "public, max-age=31536000, immutable");
        let tag = header(ETAG);
        let packed = packed.bytes().await.unwrap();
        assert!(packed.len() < 150_000, "{scene}: {} bytes", packed.len());

        let plain = client.get(&address).send().await.unwrap();
        assert_eq!(plain.headers().get(CONTENT_ENCODING), None);
        let plain = plain.bytes().await.unwrap();
        assert!(unpack(&packed).unwrap() == plain, "{scene}: one grid in both encodings");
        let grid = decode(&plain).unwrap();
        assert_eq!(grid.size().get(), 256);
        let found: Vec<_> = grid.stats().blocks().into_iter().map(|(block, _)| block.id.as_str()).collect();
        assert!(kinds.iter().all(|kind| found.contains(kind)), "{scene}: {found:?}");
        let feet = scene.start(0).0.map(|at| at as usize);
        assert_eq!([feet[1], feet[1] + 1].map(|y| grid.get(feet[0], y, feet[2])), [AIR; 2], "{scene}");
        if scene == Scene::House {
            let below = grid.get(feet[0], feet[1] - 1, feet[2]);
            assert_eq!(Block::by_number(below).unwrap().id, "spruce_planks");
        }

        let known = client.get(&address).header("accept-encoding", "br").header(IF_NONE_MATCH, tag);
        assert_eq!(known.send().await.unwrap().status(), 304);
    }
    let of_another_engine = reqwest::get(server.url_for("/world/scenes/cave/grid?engine=old")).await.unwrap();
    assert_eq!(of_another_engine.headers()[CACHE_CONTROL], "no-cache");
    let unknown = reqwest::get(server.url_for("/world/scenes/castle/grid")).await.unwrap();
    assert_eq!(unknown.status(), 404);
    assert!(unknown.text().await.unwrap().contains("there are meadow, cave and house"));
}

/// Opens the page and clicks the button of a scene.
async fn click_walk(page: &BrowserPage, scene: Scene) {
    page.wait_until("!document.querySelector('button[data-grid]').hidden").await;
    page.click(&format!("button[data-grid*={scene}]")).await;
}

#[tokio::test]
async fn visitors_walk_through_a_scene_from_where_players_start_and_come_back_to_its_picture() {
    let server = TestServer::start().await;
    let mut page = open_page(&server.url_for("/world")).await;
    for scene in Scene::ALL {
        click_walk(&page, scene).await;
        page.wait_until(&format!("!!document.querySelector('build-viewer[src*={scene}][data-walking]')"))
            .await;
        let ([x, y, z], yaw) = scene.start(0);
        let at: [f64; 3] = page.eval("document.querySelector('build-viewer').viewer.camera.body.at").await;
        // The floor of the cave is lower by two blocks where its terrain begins.
        assert!([x, z] == [at[0], at[2]] && at[1] > y - 2.01 && at[1] <= y, "{scene}: at {at:?}");
        let look: [f64; 2] = page
            .eval("(({ turn }) => [-Math.sin(turn), -Math.cos(turn)])(document.querySelector('build-viewer').viewer.camera)")
            .await;
        let yaw = f64::from(yaw).to_radians() / 1000.0;
        let off = (look[0] + yaw.sin()).hypot(look[1] - yaw.cos());
        assert!(off < 1e-9, "{scene}: looks along {look:?}");
        assert_eq!(page.eval::<String>("document.activeElement.localName").await, "canvas");
        assert_eq!(page.eval::<u32>("document.querySelectorAll('build-viewer').length").await, 1, "{scene}");
        page.screenshot(&format!("world-walk-{scene}")).await;
    }
    page.press("Escape").await;
    page.wait_until("!document.querySelector('[data-walking]')").await;
    assert_eq!(page.text("button[data-grid*=house]").await, "Back to the picture");
    click_walk(&page, Scene::House).await;
    assert_eq!(page.eval::<u32>("document.querySelectorAll('build-viewer').length").await, 0);
    assert_eq!(page.eval::<u32>("document.querySelectorAll('.scenes figure > img').length").await, 6);
    assert_eq!(page.text("button[data-grid*=house]").await, "Walk through it");
    assert_eq!(page.take_console_errors().await, Vec::<String>::new());
}

#[tokio::test]
async fn without_script_or_webgl_the_pictures_stay() {
    const BUTTONS: &str = "[...document.querySelectorAll('button[data-grid]')].filter(button => button.checkVisibility()).length";
    let server = TestServer::start().await;
    let page = open_page("about:blank").await;
    page.add_init_script("HTMLCanvasElement.prototype.getContext = () => null").await;
    page.goto(&server.url_for("/world")).await;
    click_walk(&page, Scene::Cave).await;
    page.wait_until("document.body.innerText.includes('This browser shows no 3D.')").await;
    assert_eq!(page.eval::<u32>("document.querySelectorAll('.scenes figure > img').length").await, 6);
    assert_eq!(page.eval::<u32>(BUTTONS).await, 2);

    page.disable_scripts().await;
    page.goto(&server.url_for("/world")).await;
    assert_eq!(page.eval::<u32>(BUTTONS).await, 0);
    assert!(!page.eval::<bool>("document.getElementById('walks').checkVisibility()").await);
}

#[test]
fn a_recording_that_does_not_exist_is_an_error_in_words() {
    let run =
        Command::new(env!("CARGO_BIN_EXE_buildoff")).args(["world", "replay", "none.run"]).output().unwrap();
    assert_eq!(run.status.code(), Some(2));
    let words = String::from_utf8_lossy(&run.stderr).into_owned();
    assert!(words.contains("none.run cannot be read"), "{words}");
}
