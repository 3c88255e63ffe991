//! The size of the scripts that the viewer loads before any of its tools is used.

use std::collections::BTreeMap;

use crate::support::TestServer;

const MAX_BYTES: usize = 20_000;

#[tokio::test]
async fn the_viewers_first_load_is_small() {
    let server = TestServer::start().await;
    let page = reqwest::get(server.url_for("/about")).await.unwrap().text().await.unwrap();
    let base = page.split("/static/").nth(1).and_then(|rest| rest.split('/').next()).unwrap().to_owned();

    let mut sizes = BTreeMap::new();
    let mut pending = vec!["viewer.js".to_owned(), "worker.js".to_owned()];
    let client = reqwest::Client::builder().no_brotli().no_gzip().build().unwrap();
    while let Some(name) = pending.pop() {
        if sizes.contains_key(&name) {
            continue;
        }
        let address = server.url_for(&format!("/static/{base}/viewer/{name}"));
        let packed = client.get(&address).header("accept-encoding", "br").send().await.unwrap();
        assert_eq!(packed.headers().get("content-encoding").unwrap(), "br", "{address}");
        sizes.insert(name, packed.bytes().await.unwrap().len());

        let script = reqwest::get(&address).await.unwrap().text().await.unwrap();
        pending.extend(imported(&script));
    }
    assert!(sizes.len() > 10, "only {:?}", sizes.keys());
    let total: usize = sizes.values().sum();
    assert!(
        total <= MAX_BYTES,
        "{total} bytes, more than {MAX_BYTES}: import() what is not needed at first; {sizes:#?}"
    );
}

/// The sibling modules that a script imports statically, in every spelling of `import` and `export from`.
fn imported(script: &str) -> Vec<String> {
    let script = script.split_whitespace().collect::<Vec<_>>().join(" ");
    let named = script.split("from \"./").skip(1);
    let bare = script.split("import \"./").skip(1);
    named.chain(bare).filter_map(|rest| rest.split('"').next()).map(str::to_owned).collect()
}

#[test]
fn all_spellings_of_import_are_found() {
    let script = "import { a } from \"./a.js\";\nimport {\n  b,\n  c,\n} from\n  \"./b.js\";\nimport \"./c.js\";\nimport(\"./later.js\");";
    assert_eq!(imported(script), ["a.js", "b.js", "c.js"]);
}
