//! Pictures of builds: drawn on request, and kept while there is room.

use std::fmt;
use std::sync::Arc;

use axum::body::Bytes;
use axum::response::Response;
use serde::Deserialize;
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

use super::derived::{ContentRequest, Representation};
use super::encoding::Encoding;
use super::filters::capitalised;
use super::{Error, ErrorCode};
use crate::app::App;
use crate::arena::builds::StoredGrid;
use crate::pictures::Pictures;
use crate::work::WorkClient;
use voxel::image::{self, Background, Picture, View};

const DEFAULT_SIZE: u16 = 512;

/// The sizes that pictures are drawn in, which include all that pages use. More sizes would only mean more to draw
/// and to keep.
const SIZES: [u16; 7] = [64, 128, 256, 384, 512, 768, 1024];

/// How to draw a build.
#[derive(Clone, Copy, Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct PictureQuery {
    /// Width and height in pixels, rounded up to 64, 128, 256, 384, 512, 768 or 1024.
    #[param(minimum = 64, maximum = 1024, default = 512)]
    size: Option<u16>,
    /// The angle of view, in eighths of a turn.
    #[param(minimum = 0, maximum = 7, default = 0)]
    angle: Option<u8>,
    #[serde(default)]
    #[param(inline)]
    format: PictureQueryFormat,
    /// The background behind the build.
    #[serde(default)]
    #[param(inline)]
    background: PictureBackground,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = Format, default = "webp")]
enum PictureQueryFormat {
    Png,
    #[default]
    Webp,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = Behind, default = "sky")]
enum PictureBackground {
    #[default]
    Sky,
    Transparent,
}

/// Answers with a picture of the build of this id, whose grid is loaded only if it has to be drawn. The id of a build is
/// its name in caches, since its digest would name the grid that voters get before the vote.
pub(super) async fn answer(
    ContentRequest { app, client, headers, .. }: &ContentRequest,
    id: Uuid,
    load: impl Future<Output = Result<StoredGrid, Error>>,
    query: PictureQuery,
    cache_control: &'static str,
) -> Result<Response, Error> {
    let name = name(id, query);
    let representation =
        Representation { kind: query.kind(), name: &name, encoding: Encoding::Identity, cache_control };
    representation.respond(headers, make(app, &app.pictures, *client, name.clone(), query, load)).await
}

/// A picture for a matchup, from a cache that only matchups use.
pub(super) async fn draw_for_matchup(
    app: &App,
    client: WorkClient,
    grid: StoredGrid,
    query: PictureQuery,
) -> Result<Bytes, Error> {
    // The name stays in the process: nothing sends it.
    let name = format!("{}-{query}", hex::encode(&grid.digest)).into();
    make(app, &app.matchup_pictures, client, name, query, async { Ok(grid) }).await
}

async fn make(
    app: &App,
    pictures: &Pictures,
    client: WorkClient,
    name: Arc<str>,
    query: PictureQuery,
    load: impl Future<Output = Result<StoredGrid, Error>>,
) -> Result<Bytes, Error> {
    let view = query.view()?;
    let load = async {
        let (grid, grids) = (load.await?, app.unpacked_grids.clone());
        Ok(move || {
            let grid = grids.open(client, &grid).map_err(damaged_build)?;
            Ok(query.format.encode(&image::render(&grid, &view, 1)))
        })
    };
    pictures.get(client, name, load).await
}

fn name(id: Uuid, query: PictureQuery) -> Arc<str> {
    format!("{id}-{query}").into()
}

/// For a stored build that cannot be read. Other builds are not affected.
pub(super) fn damaged_build(cause: impl Into<anyhow::Error>) -> Error {
    Error::from(ErrorCode::BuildDamaged).with_cause(cause)
}

impl PictureQuery {
    /// Refuses what cannot be drawn.
    pub fn check(self) -> Result<(), Error> {
        self.view().map(drop)
    }

    pub fn kind(self) -> &'static str {
        self.format.kind()
    }

    fn view(self) -> Result<View, Error> {
        let background = match self.background {
            PictureBackground::Sky => Background::Sky,
            PictureBackground::Transparent => Background::Transparent,
        };
        // The size of the request has to be valid, not only the size that it is rounded up to.
        let angle = self.angle.unwrap_or(0);
        View::new(angle, self.size.unwrap_or(DEFAULT_SIZE), background)
            .and_then(|_| View::new(angle, self.size(), background))
            .map_err(|allowed| Error::bad_request(format!("{}.", capitalised(&allowed))))
    }

    /// The smallest size that is not smaller than the requested one.
    fn size(self) -> u16 {
        let requested = self.size.unwrap_or(DEFAULT_SIZE);
        SIZES.into_iter().find(|size| *size >= requested).unwrap_or(requested)
    }
}

impl fmt::Display for PictureQuery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { size: _, angle, format, background } = self;
        write!(f, "{}-{}-{format:?}-{background:?}", self.size(), angle.unwrap_or(0))
    }
}

impl PictureQueryFormat {
    fn kind(self) -> &'static str {
        match self {
            Self::Png => "image/png",
            Self::Webp => "image/webp",
        }
    }

    fn encode(self, picture: &Picture) -> Vec<u8> {
        match self {
            Self::Png => picture.png(),
            Self::Webp => picture.webp(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::Path;

    use super::*;

    fn of_size(size: u16) -> PictureQuery {
        PictureQuery {
            size: Some(size),
            angle: None,
            format: PictureQueryFormat::Webp,
            background: PictureBackground::Sky,
        }
    }

    #[test]
    fn a_picture_is_at_least_as_large_as_asked_and_comes_in_few_sizes() {
        let allowed = View::MIN_SIZE..=View::MAX_SIZE;
        assert!(allowed.clone().all(|size| of_size(size).size() >= size && of_size(size).check().is_ok()));
        let names: BTreeSet<_> = allowed.map(|size| name(Uuid::nil(), of_size(size))).collect();
        assert_eq!(names.len(), SIZES.len());
        for size in [0, View::MIN_SIZE - 1, View::MAX_SIZE + 1, u16::MAX] {
            assert!(of_size(size).check().is_err(), "{size}");
        }
    }

    #[test]
    fn pages_use_only_sizes_that_are_drawn() {
        let mut used = BTreeSet::new();
        for folder in ["templates", "static"] {
            collect_sizes(&Path::new(env!("CARGO_MANIFEST_DIR")).join(folder), &mut used);
        }
        assert!(used.len() > 3, "{used:?}");
        assert!(used.iter().all(|size| SIZES.contains(size)), "{used:?}");
    }

    /// The sizes in the addresses of pictures, in all files of a folder.
    fn collect_sizes(folder: &Path, used: &mut BTreeSet<u16>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                collect_sizes(&path, used);
                continue;
            }
            let text = String::from_utf8_lossy(&fs::read(path).unwrap()).into_owned();
            for query in text.split("image?").skip(1) {
                let query = query.split(['"', '`']).next().unwrap_or_default();
                let size = query.split("size=").nth(1).unwrap_or_default();
                let digits: String = size.chars().take_while(char::is_ascii_digit).collect();
                used.extend(digits.parse::<u16>());
            }
        }
    }
}
