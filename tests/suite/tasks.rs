//! The pages of the block world's tasks, and the pictures on them.

use reqwest::header::{CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_TYPE, ETAG, IF_NONE_MATCH};
use world::record::Recording;
use world::task::{catalogue, find_task, shipped_tasks, solutions};

use crate::support::{TestServer, open_page};

/// A task whose solution is short.
const PLANKS: &str = "/tasks/crafting/craft_oak_planks";

async fn text(server: &TestServer, path: &str) -> (u16, String) {
    let answer = server.client.get(server.url_for(path)).send().await.unwrap();
    (answer.status().as_u16(), answer.text().await.unwrap())
}

/// The address of a file of a task's page, with its version.
fn address_of(page: &str, file: &str) -> String {
    let at = page.find(&format!("/{file}?v=")).unwrap_or_else(|| panic!("there is no {file}"));
    let start = page[..at].rfind('"').unwrap() + 1;
    page[start..].split('"').next().unwrap().to_owned()
}

#[tokio::test]
async fn the_list_has_all_tasks_and_is_small() {
    let server = TestServer::start().await;
    let (status, page) = text(&server, "/tasks").await;
    assert_eq!(status, 200);
    assert_eq!(catalogue().len(), 86);
    for facts in catalogue() {
        let link = format!("href=\"/tasks/{}/{}\"", facts.category, facts.name);
        assert_eq!(page.matches(&link).count(), 1, "{link}");
        assert!(page.contains(&format!("href=\"#{}\"", facts.category)), "{}", facts.category);
    }
    assert!(page.contains(&format!("{} of 86 can be run", shipped_tasks().len())));
    assert_eq!(page.matches("/thumbnail.webp?v=").count(), shipped_tasks().len());
    assert!(page.contains("not Minecraft") && page.contains("buildoff/CraftOakPlanks-v0"));
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut packed, page.as_bytes()).unwrap();
    assert!(packed.finish().unwrap().len() < 30_000);
}

#[tokio::test]
async fn every_task_has_a_page_that_says_how_it_is_scored_or_why_it_cannot_be_run() {
    let server = TestServer::start().await;
    for facts in catalogue() {
        let name = format!("{}/{}", facts.category, facts.name);
        let (status, page) = text(&server, &format!("/tasks/{name}")).await;
        assert_eq!(status, 200, "{name}");
        match find_task(&name) {
            Some(task) => {
                assert!(page.contains("How it is scored") && page.contains("start.webp"), "{name}");
                assert!(page.matches("<li>").count() >= task.payments().len(), "{name}");
                let is_solved = solutions(&name).iter().any(|solution| solution.seed == 1);
                assert_eq!(page.contains("solution.webp?v="), is_solved, "{name}");
            }
            None => assert!(page.contains("Not available: ") && !page.contains(".webp"), "{name}"),
        }
    }
    let (_, hole) = text(&server, "/tasks/building/dig_three_down_and_fill_one_up").await;
    let hole = hole.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(hole.contains("a run shows the steps taken and how deep the player got."), "{hole}");
    assert!(
        hole.contains("The reference solution took ") && hole.contains(" and got 3 blocks deep."),
        "{hole}"
    );
    let (_, planks) = text(&server, PLANKS).await;
    assert!(!planks.contains("Beside the score"));
    assert!(planks.contains("10 points for crafting oak planks, once"));
    assert!(planks.contains("10 oak log") && planks.contains("buildoff/CraftOakPlanks-v0"));
}

#[tokio::test]
async fn pictures_are_drawn_and_kept_by_browsers() {
    let server = TestServer::start().await;
    let (_, page) = text(&server, PLANKS).await;
    let (_, list) = text(&server, "/tasks").await;
    let thumbnail = address_of(&list, "crafting/craft_oak_planks/thumbnail.webp");
    for (address, [width, height], bytes) in [
        (address_of(&page, "start.webp"), [640, 360], 200_000),
        (thumbnail, [320, 180], 60_000),
        (address_of(&page, "solution.webp"), [320, 180], 600_000),
    ] {
        let answer = server.client.get(server.url_for(&address)).send().await.unwrap();
        assert_eq!(answer.status(), 200, "{address}");
        assert_eq!(answer.headers()[CONTENT_TYPE], "image/webp");
        assert_eq!(answer.headers()[CACHE_CONTROL], "public, max-age=31536000, immutable");
        let tag = answer.headers()[ETAG].clone();
        let picture = answer.bytes().await.unwrap();
        assert!(picture.len() < bytes, "{address}: {} bytes", picture.len());
        assert_eq!(size_of(&picture), [width, height], "{address}");

        let known = server.client.get(server.url_for(&address)).header(IF_NONE_MATCH, tag);
        assert_eq!(known.send().await.unwrap().status(), 304);
    }
    let unversioned = server.client.get(server.url_for(&format!("{PLANKS}/start.webp?v=old"))).send().await;
    assert_eq!(unversioned.unwrap().headers()[CACHE_CONTROL], "no-cache");
}

/// The width and height of a WebP file with losses, or of an animated one.
fn size_of(webp: &[u8]) -> [u32; 2] {
    let number = |at: usize, bytes: usize| {
        webp[at..at + bytes].iter().rev().fold(0, |number, byte| number << 8 | u32::from(*byte))
    };
    match &webp[8..16] {
        b"WEBPVP8 " => [number(26, 2), number(28, 2)],
        b"WEBPVP8X" => [number(24, 3) + 1, number(27, 3) + 1],
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn the_recording_of_a_solution_can_be_downloaded() {
    let server = TestServer::start().await;
    let (_, page) = text(&server, PLANKS).await;
    let answer = server.client.get(server.url_for(&address_of(&page, "solution.run"))).send().await.unwrap();
    assert_eq!(answer.headers()[CONTENT_DISPOSITION], "attachment; filename=\"craft_oak_planks.1.run\"");
    let recording = Recording::read(&answer.bytes().await.unwrap()).unwrap();
    assert_eq!(recording.beginning.task.name(), "craft_oak_planks");
    assert!(recording.end().score > 9.9);
}

#[tokio::test]
async fn what_does_not_exist_is_not_found_in_words() {
    let server = TestServer::start().await;
    for (path, words) in [
        ("/tasks/crafting/craft_a_moon", "There is no such task."),
        ("/tasks/building/craft_oak_planks", "There is no such task."),
        ("/tasks/crafting/craft_a_moon/start.webp", "There is no such task."),
        ("/tasks/combat/combat_zombies/start.webp", "This task has no pictures: it cannot be run here."),
        ("/tasks/combat/combat_zombies/solution.webp", "This task has no recorded solution."),
        ("/tasks/combat/combat_zombies/solution.run", "This task has no recorded solution."),
    ] {
        let (status, page) = text(&server, path).await;
        assert_eq!(status, 404, "{path}");
        assert!(page.contains(words), "{path}: {page}");
    }
}

#[tokio::test]
async fn the_solution_plays_in_the_picture_s_place_and_stops() {
    let server = TestServer::start().await;
    let mut page = open_page(&server.url_for(PLANKS)).await;
    page.wait_until("document.getElementById('play').role === 'button'").await;
    page.click("#play").await;
    page.wait_until("document.querySelector('#picture img').src.includes('solution.webp')").await;
    assert_eq!(page.text("#play").await, "Stop");
    page.click("#play").await;
    page.wait_until("document.querySelector('#picture img').src.includes('start.webp')").await;
    assert_eq!(page.text("#play").await, "Play the solution");
    assert_eq!(page.take_console_errors().await, Vec::<String>::new());
}
