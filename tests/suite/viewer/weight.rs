//! What the viewer weighs before anybody asks it for more than a look.

use std::collections::BTreeMap;

use crate::support::Site;

const MOST: usize = 20_000;

#[tokio::test]
async fn what_the_viewer_loads_at_first_is_light() {
    let site = Site::open().await;
    let page = reqwest::get(site.at("/about")).await.unwrap().text().await.unwrap();
    let base = page.split("/static/").nth(1).and_then(|rest| rest.split('/').next()).unwrap().to_owned();

    let mut weights = BTreeMap::new();
    let mut wanted = vec!["viewer.js".to_owned(), "worker.js".to_owned()];
    let client = reqwest::Client::builder().no_brotli().no_gzip().build().unwrap();
    while let Some(name) = wanted.pop() {
        if weights.contains_key(&name) {
            continue;
        }
        let address = site.at(&format!("/static/{base}/viewer/{name}"));
        let packed = client.get(&address).header("accept-encoding", "br").send().await.unwrap();
        assert_eq!(packed.headers().get("content-encoding").unwrap(), "br", "{address}");
        weights.insert(name, packed.bytes().await.unwrap().len());

        let script = reqwest::get(&address).await.unwrap().text().await.unwrap();
        let from = script
            .lines()
            .filter(|line| line.starts_with("import "))
            .filter_map(|line| line.split_once("from \"./"));
        wanted.extend(from.filter_map(|(_, rest)| rest.split('"').next()).map(str::to_owned));
    }
    assert!(weights.len() > 10, "only {:?}", weights.keys());
    let whole: usize = weights.values().sum();
    assert!(
        whole <= MOST,
        "{whole} bytes, more than {MOST}: import() what is not needed at first; {weights:#?}"
    );
}
