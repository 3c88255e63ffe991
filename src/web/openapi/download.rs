//! `/openapi.json`: the document.

use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use axum::response::Response;
use axum::routing::get;
use serde_json::{Value, json};
use tokio::sync::OnceCell;

use crate::app::App;
use crate::web::Error;
use crate::web::derived::{ContentRequest, Representation};
use crate::web::encoding::Encoding;
use crate::work::WorkClient;
use voxel::codec::{CompressionLevel, Digest, pack};

pub(super) fn routes(document: Arc<Value>) -> Router<App> {
    let written = Arc::new(OnceCell::new());
    let answer = move |request| answer(request, document, written);
    Router::new().route("/openapi.json", get(answer))
}

/// The document as bytes, written for the first request.
struct DocumentBytes {
    name: String,
    plain: Bytes,
    packed: Bytes,
}

async fn answer(
    ContentRequest { app, encoding, headers, .. }: ContentRequest,
    document: Arc<Value>,
    written: Arc<OnceCell<DocumentBytes>>,
) -> Result<Response, Error> {
    let write = || async {
        let url = app.config.public_url.clone();
        let write = move || DocumentBytes::of(&document, url);
        app.work.run(WorkClient::EVERYBODY, write).await?.map_err(Error::internal)
    };
    let written = written.get_or_try_init(write).await?;
    let encoding = encoding.brotli_or_plain();
    let bytes = if encoding == Encoding::Brotli { &written.packed } else { &written.plain };
    let representation =
        Representation { kind: "application/json", name: &written.name, encoding, cache_control: "no-cache" };
    Ok(representation.not_modified(&headers).unwrap_or_else(|| representation.answer(bytes.clone())))
}

impl DocumentBytes {
    fn of(document: &Value, url: Option<String>) -> serde_json::Result<Self> {
        let mut document = document.clone();
        if let Some(url) = url {
            document["servers"] = json!([{ "url": url }]);
        }
        let plain = serde_json::to_vec(&document)?;
        let name = hex::encode(&Digest::of(&plain).0[..8]);
        Ok(Self { name, packed: pack(&plain, CompressionLevel::Best).into(), plain: plain.into() })
    }
}
