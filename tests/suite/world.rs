//! The block world, as the program and the site offer it.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::support::{TestServer, open_page};

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

#[test]
fn a_recording_that_does_not_exist_is_an_error_in_words() {
    let run =
        Command::new(env!("CARGO_BIN_EXE_buildoff")).args(["world", "replay", "none.run"]).output().unwrap();
    assert_eq!(run.status.code(), Some(2));
    let words = String::from_utf8_lossy(&run.stderr).into_owned();
    assert!(words.contains("none.run cannot be read"), "{words}");
}
