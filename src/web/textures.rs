//! `/textures/…`: what the viewer and the page of blocks paint blocks with.

use std::sync::LazyLock;

use axum::Router;
use axum::body::Bytes;
use axum::extract::Path;
use axum::response::Response;
use axum::routing::get;
use serde::Serialize;

use super::Error;
use super::derived::{ContentRequest, IMMUTABLE, Representation};
use super::encoding::Encoding;
use crate::app::App;
use voxel::codec::{CompressionLevel, Digest, pack};
use voxel::image::Picture;
use voxel::textures::Textures;
use voxel::{Block, Palette, RenderClass};

static TEXTURE_SET: LazyLock<TextureSet> = LazyLock::new(TextureSet::paint);

pub(super) fn routes() -> Router<App> {
    Router::new().route("/textures/{hash}/{file}", get(texture))
}

/// The address of the folder in which the viewer finds its textures.
pub(super) fn url() -> String {
    format!("/textures/{}", TEXTURE_SET.hash)
}

/// Paints all textures, which takes some milliseconds the first time.
pub(super) fn prepare() {
    LazyLock::force(&TEXTURE_SET);
}

/// All files that follow from the palettes.
struct TextureSet {
    hash: String,
    files: Vec<TextureFile>,
}

struct TextureFile {
    name: String,
    kind: &'static str,
    plain: Bytes,
    /// None for files that compression would not make smaller.
    packed: Option<Bytes>,
}

/// A block, for the viewer.
#[derive(Serialize)]
struct BlockView<'a> {
    id: &'a str,
    name: String,
    class: RenderClass,
    /// The smallest palette that contains it.
    palette: Palette,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    aliases: &'a [String],
    /// Of top, side and bottom: the first tile, and the number of variants.
    faces: Vec<[u8; 2]>,
}

impl TextureSet {
    fn paint() -> Self {
        let textures = Textures::get();
        let blocks = Palette::Advanced.blocks();
        let views: Vec<_> =
            (1..).zip(blocks).map(|(number, block)| BlockView::of(textures, number, block)).collect();
        let json = serde_json::to_vec(&views).unwrap_or_default();
        let mut files = vec![
            TextureFile::packed("tiles.bin", "application/octet-stream", textures.bytes()),
            TextureFile::packed("blocks.json", "application/json", json),
        ];
        for (number, block) in (1..).zip(blocks) {
            files.extend(face_pictures(textures, number, block));
        }
        let mut whole = Vec::new();
        files.iter().for_each(|file| whole.extend(&file.plain));
        let hash = hex::encode(&Digest::of(&whole).0[..8]);
        Self { hash, files }
    }
}

impl<'a> BlockView<'a> {
    fn of(textures: &Textures, number: u8, block: &'a Block) -> Self {
        let faces = textures.faces(number).into_iter().flatten();
        let palette = match Palette::Simple.find(&block.id) {
            Some(_) => Palette::Simple,
            None => Palette::Advanced,
        };
        Self {
            id: &block.id,
            name: block.name(),
            class: block.class,
            palette,
            aliases: &block.aliases,
            faces: faces.map(|face| [face.first, face.variants]).collect(),
        }
    }
}

/// A block's top and side as small pictures, which pages enlarge.
fn face_pictures(textures: &Textures, number: u8, block: &Block) -> Vec<TextureFile> {
    let faces = textures.faces(number).into_iter().flatten();
    let named = ["top", "side"].into_iter().zip(faces);
    named
        .filter_map(|(side, face)| {
            let tile = textures.tiles().get(usize::from(face.first))?;
            let rgba = tile.0.as_flattened().to_vec();
            let png = Picture { width: 16, height: 16, rgba }.png();
            let name = format!("{}-{side}.png", block.id);
            Some(TextureFile { name, kind: "image/png", plain: png.into(), packed: None })
        })
        .collect()
}

impl TextureFile {
    fn packed(name: &str, kind: &'static str, plain: Vec<u8>) -> Self {
        let packed = pack(&plain, CompressionLevel::Best);
        Self { name: name.to_owned(), kind, plain: plain.into(), packed: Some(packed.into()) }
    }
}

async fn texture(
    Path((hash, name)): Path<(String, String)>,
    ContentRequest { encoding, headers, .. }: ContentRequest,
) -> Result<Response, Error> {
    let file = TEXTURE_SET.files.iter().find(|file| file.name == name);
    let file = file.ok_or_else(|| Error::not_found("This texture does not exist."))?;
    let (encoding, bytes) = match (&file.packed, encoding) {
        (Some(packed), Encoding::Brotli) => (Encoding::Brotli, packed),
        _ => (Encoding::Identity, &file.plain),
    };
    let tag = format!("{}-{name}", TEXTURE_SET.hash);
    let cache_control = if hash == TEXTURE_SET.hash { IMMUTABLE } else { "no-cache" };
    let representation = Representation { kind: file.kind, name: &tag, encoding, cache_control };
    Ok(representation.not_modified(&headers).unwrap_or_else(|| representation.answer(bytes.clone())))
}
