//! The files of `static/`, built into the program.
//!
//! Their addresses are `/static/<hash of all files sent>/…`. Any change alters all of them, so browsers can keep them
//! forever, and modules that import each other by relative paths are of one version.

mod comments;

use std::collections::HashMap;
use std::io::{self, Write};
use std::sync::LazyLock;

use axum::Router;
use axum::body::Bytes;
use axum::extract::Path;
use axum::response::Response;
use axum::routing::get;
use flate2::write::GzEncoder;
use rust_embed::Embed;
use sha2::{Digest, Sha256};
use tokio::sync::OnceCell;

use self::comments::strip_comments;
use super::Error;
use super::derived::{ContentRequest, IMMUTABLE, Representation};
use super::encoding::Encoding;
use crate::app::App;
use crate::work::{WorkClient, WorkPool};
use voxel::codec::{self, CompressionLevel};

const REVALIDATE: &str = "no-cache";
const ONE_DAY: &str = "public, max-age=86400";

#[derive(Embed)]
#[folder = "static/"]
struct StaticFolder;

static ASSETS: LazyLock<AssetStore> = LazyLock::new(AssetStore::new);

struct AssetStore {
    hash: String,
    files: HashMap<String, Asset>,
}

struct Asset {
    kind: &'static str,
    name: String,
    plain: Bytes,
    brotli: OnceCell<Bytes>,
    gzip: OnceCell<Bytes>,
}

/// The address of a file in `static/`, for templates.
pub fn url(path: &str) -> String {
    format!("/static/{}/{path}", ASSETS.hash)
}

pub(super) fn routes() -> Router<App> {
    Router::new()
        .route("/static/{hash}/{*path}", get(versioned))
        .route("/favicon.ico", get(|request| answer(request, "favicon.ico".to_owned(), ONE_DAY)))
        .route("/robots.txt", get(|request| answer(request, "robots.txt".to_owned(), ONE_DAY)))
}

async fn versioned(
    Path((hash, path)): Path<(String, String)>,
    request: ContentRequest,
) -> Result<Response, Error> {
    let cache_control = if hash == ASSETS.hash { IMMUTABLE } else { REVALIDATE };
    answer(request, path, cache_control).await
}

async fn answer(
    ContentRequest { app, encoding, headers, .. }: ContentRequest,
    path: String,
    cache_control: &'static str,
) -> Result<Response, Error> {
    let file = ASSETS.files.get(&path).ok_or_else(|| Error::not_found("This file does not exist."))?;
    let encoding = if file.is_compressible() { encoding } else { Encoding::Identity };
    let representation = Representation { kind: file.kind, name: &file.name, encoding, cache_control };
    representation.respond(&headers, file.encoded(&app.work, encoding)).await
}

impl AssetStore {
    fn new() -> Self {
        // Type declarations are for development.
        let mut names: Vec<_> = StaticFolder::iter().filter(|name| !name.ends_with(".d.ts")).collect();
        names.sort_unstable();
        let mut whole = Sha256::new();
        let mut files = HashMap::new();
        for name in names {
            let Some(found) = StaticFolder::get(&name) else { continue };
            let data = if name.ends_with(".js") {
                strip_comments(&String::from_utf8_lossy(&found.data)).into_bytes()
            } else {
                found.data.into_owned()
            };
            let digest = Sha256::digest(&data);
            whole.update(name.as_bytes());
            whole.update([0]);
            whole.update(digest);
            files.insert(name.to_string(), Asset::new(&name, &digest, data.into()));
        }
        Self { hash: short(&whole.finalize()), files }
    }
}

impl Asset {
    fn new(name: &str, digest: &[u8], plain: Bytes) -> Self {
        Self { kind: kind(name), name: short(digest), plain, brotli: OnceCell::new(), gzip: OnceCell::new() }
    }

    fn is_compressible(&self) -> bool {
        self.kind.starts_with("text/") || matches!(self.kind, "image/svg+xml" | "application/json")
    }

    async fn encoded(&self, work: &WorkPool, encoding: Encoding) -> Result<Bytes, Error> {
        let cell = match encoding {
            Encoding::Brotli => &self.brotli,
            Encoding::Gzip => &self.gzip,
            Encoding::Identity => return Ok(self.plain.clone()),
        };
        let plain = self.plain.clone();
        let compress = || async {
            let compressed = work.run(WorkClient::EVERYBODY, move || {
                if encoding == Encoding::Brotli {
                    Ok(codec::pack(&plain, CompressionLevel::Best))
                } else {
                    gzip(&plain)
                }
            });
            compressed.await?.map(Bytes::from).map_err(Error::internal)
        };
        cell.get_or_try_init(compress).await.cloned()
    }
}

fn gzip(plain: &[u8]) -> io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(plain)?;
    encoder.finish()
}

fn short(digest: &[u8]) -> String {
    hex::encode(&digest[..8])
}

fn kind(name: &str) -> &'static str {
    match name.rsplit_once('.').map_or("", |(_, end)| end) {
        "css" => "text/css; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        "txt" => "text/plain; charset=utf-8",
        "json" => "application/json",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "webp" => "image/webp",
        "ico" => "image/x-icon",
        "woff2" => "font/woff2",
        _ => "application/octet-stream",
    }
}
