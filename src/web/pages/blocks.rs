//! `/blocks`: every block there is; `/textures/…`: what the viewer paints them with.

use std::sync::LazyLock;

use askama::Template;
use askama_web::WebTemplate;
use axum::Router;
use axum::body::Bytes;
use axum::extract::{Extension, Path};
use axum::http::HeaderMap;
use axum::response::Response;
use axum::routing::get;
use serde::Serialize;

use crate::app::App;
use crate::web::derived::{IMMUTABLE, Representation};
use crate::web::encoding::Encoding;
use crate::web::pictures::hex;
use crate::web::{Error, Page};
use voxel::codec::{CompressionLevel, Digest, pack};
use voxel::image::Picture;
use voxel::textures::Textures;
use voxel::{Block, Palette, RenderClass};

static BLOCK_ASSETS: LazyLock<BlockAssets> = LazyLock::new(BlockAssets::paint);

pub(in crate::web) fn routes() -> Router<App> {
    Router::new().route("/blocks", get(page)).route("/textures/{hash}/{file}", get(texture))
}

/// The address under which the viewer finds the textures.
pub(in crate::web) fn textures_url() -> String {
    format!("/textures/{}", BLOCK_ASSETS.hash)
}

/// Paints all blocks, which takes some milliseconds the first time.
pub(in crate::web) fn prepare() {
    LazyLock::force(&BLOCK_ASSETS);
}

/// Everything that follows from the palettes, made once.
struct BlockAssets {
    hash: String,
    files: Vec<BlockAsset>,
}

struct BlockAsset {
    name: String,
    kind: &'static str,
    plain: Bytes,
    /// None for what would not become smaller.
    packed: Option<Bytes>,
}

/// A block as the viewer needs it.
#[derive(Serialize)]
struct BlockView<'a> {
    id: &'a str,
    name: String,
    class: RenderClass,
    /// The smallest palette that has it.
    palette: Palette,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    aliases: &'a [String],
    /// The first tile and how many variants, of top, side and bottom.
    faces: Vec<[u8; 2]>,
}

impl BlockAssets {
    fn paint() -> Self {
        let textures = Textures::get();
        let blocks = Palette::Advanced.blocks();
        let views: Vec<_> =
            (1..).zip(blocks).map(|(number, block)| block_view(textures, number, block)).collect();
        let json = serde_json::to_vec(&views).unwrap_or_default();
        let mut files = vec![
            BlockAsset::packed("tiles.bin", "application/octet-stream", textures.bytes()),
            BlockAsset::packed("blocks.json", "application/json", json),
        ];
        for (number, block) in (1..).zip(blocks) {
            files.extend(pictures(textures, number, block));
        }
        let mut whole = Vec::new();
        files.iter().for_each(|file| whole.extend(&file.plain));
        let hash = hex(&Digest::of(&whole).0[..8]);
        Self { hash, files }
    }
}

fn block_view<'a>(textures: &Textures, number: u8, block: &'a Block) -> BlockView<'a> {
    let faces =
        textures.faces(number).into_iter().flatten().map(|face| [face.first, face.variants]).collect();
    let palette = match Palette::Simple.find(&block.id) {
        Some(_) => Palette::Simple,
        None => Palette::Advanced,
    };
    BlockView {
        id: &block.id,
        name: block.name(),
        class: block.class,
        palette,
        aliases: &block.aliases,
        faces,
    }
}

/// A block's top and side as pictures, enlarged by the page.
fn pictures(textures: &Textures, number: u8, block: &Block) -> Vec<BlockAsset> {
    let faces = textures.faces(number).into_iter().flatten();
    let named = ["top", "side"].into_iter().zip(faces);
    named
        .filter_map(|(side, face)| {
            let tile = textures.tiles().get(usize::from(face.first))?;
            let rgba = tile.0.as_flattened().to_vec();
            let png = Picture { width: 16, height: 16, rgba }.png();
            let name = format!("{}-{side}.png", block.id);
            Some(BlockAsset { name, kind: "image/png", plain: png.into(), packed: None })
        })
        .collect()
}

impl BlockAsset {
    fn packed(name: &str, kind: &'static str, plain: Vec<u8>) -> Self {
        let packed = pack(&plain, CompressionLevel::Best);
        Self { name: name.to_owned(), kind, plain: plain.into(), packed: Some(packed.into()) }
    }
}

async fn texture(
    Path((hash, name)): Path<(String, String)>,
    Extension(encoding): Extension<Encoding>,
    headers: HeaderMap,
) -> Result<Response, Error> {
    let file = BLOCK_ASSETS.files.iter().find(|file| file.name == name);
    let file = file.ok_or_else(|| Error::not_found("There is no such texture."))?;
    let (encoding, bytes) = match (&file.packed, encoding) {
        (Some(packed), Encoding::Brotli) => (Encoding::Brotli, packed),
        _ => (Encoding::Identity, &file.plain),
    };
    let tag = format!("{}-{name}", BLOCK_ASSETS.hash);
    let cache_control = if hash == BLOCK_ASSETS.hash { IMMUTABLE } else { "no-cache" };
    let representation = Representation { kind: file.kind, name: &tag, encoding, cache_control };
    Ok(representation.not_modified(&headers).unwrap_or_else(|| representation.answer(bytes.clone())))
}

#[derive(Template, WebTemplate)]
#[template(path = "blocks.html")]
struct BlocksPage {
    page: Page,
    textures: String,
    palettes: [(Palette, &'static [Block]); 2],
}

async fn page() -> BlocksPage {
    let simple = Palette::Simple.blocks();
    let advanced = &Palette::Advanced.blocks()[simple.len()..];
    BlocksPage {
        page: Page::at("/blocks"),
        textures: textures_url(),
        palettes: [(Palette::Simple, simple), (Palette::Advanced, advanced)],
    }
}
