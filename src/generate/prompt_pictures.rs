//! Pictures in a prompt, and what each provider takes of them.
//!
//! Whatever a provider would refuse is refused here, before anything is sent: a model that does not see, a format that is
//! not taken, too many pictures, too large ones, and bytes that are not the picture they are said to be.

mod dimensions;

use std::fmt;
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::{CompletionRequest, ProviderKind};

/// A picture that is shown to a model, after its label.
#[derive(Clone, PartialEq, Eq)]
pub struct PromptPicture {
    /// Stands before the picture as a text of its own.
    pub label: String,
    pub format: PictureFormat,
    /// A file of that format.
    pub bytes: Arc<[u8]>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PictureFormat {
    Png,
    Webp,
    Jpeg,
}

/// What one request to a provider may hold.
#[derive(Clone, Copy, Debug)]
pub struct PictureLimits {
    pub formats: &'static [PictureFormat],
    pub pictures: usize,
    /// Of one picture, and of all together, as files. In a request they take a third more.
    pub bytes: usize,
    pub total_bytes: usize,
}

/// The number of pictures in a request, whatever the provider takes.
const MAX_PICTURES: usize = 64;

/// The bytes of all pictures of a request, whatever the provider takes. It bounds the memory of a request, and the time
/// for which an async thread writes it.
const MAX_TOTAL_BYTES: usize = 16 << 20;

/// Anthropic refuses more than 20 pictures in a request if one of them is wider or higher than this. The others scale
/// larger ones down.
const MAX_SIDE: u32 = 2_000;

/// The longest label, in characters.
const MAX_LABEL_CHARS: usize = 200;

impl PictureLimits {
    /// The numbers are those that the providers' guides to pictures state. Where a guide has changed, the stricter number
    /// counts.
    pub fn of(provider: ProviderKind) -> Self {
        use PictureFormat::{Jpeg, Png, Webp};
        match provider {
            // OpenAI's guide to images and vision: PNG, JPEG, WebP and still GIF; 500 pictures and 50 MB in a request.
            ProviderKind::OpenAi => Self {
                formats: &[Png, Webp, Jpeg],
                pictures: MAX_PICTURES,
                bytes: MAX_TOTAL_BYTES,
                total_bytes: MAX_TOTAL_BYTES,
            },
            // Anthropic's vision guide: JPEG, PNG, GIF and WebP; 100 pictures, 5 MB of base64 for each, and 32 MB for the
            // whole request.
            ProviderKind::Anthropic => Self {
                formats: &[Png, Webp, Jpeg],
                pictures: MAX_PICTURES,
                bytes: 3_750_000,
                total_bytes: MAX_TOTAL_BYTES,
            },
            // Google's pages on image understanding: PNG, JPEG, WebP, HEIC and HEIF; hundreds of pictures, 7 MB for each,
            // and 20 MB for a whole request with its pictures in base64.
            ProviderKind::Google => Self {
                formats: &[Png, Webp, Jpeg],
                pictures: MAX_PICTURES,
                bytes: 5 << 20,
                total_bytes: 12 << 20,
            },
            // Endpoints differ. All that document pictures take PNG and JPEG (xAI takes nothing else); WebP is not sure.
            ProviderKind::Compatible => {
                Self { formats: &[Png, Jpeg], pictures: MAX_PICTURES, bytes: 5 << 20, total_bytes: 12 << 20 }
            }
            // Agents build. They judge nothing, so they are shown nothing.
            ProviderKind::A2a => Self { formats: &[], pictures: 0, bytes: 0, total_bytes: 0 },
        }
    }

    pub fn takes(&self, format: PictureFormat) -> bool {
        self.formats.contains(&format)
    }
}

/// Why a request with pictures is not sent, as a sentence. None if it can be.
pub(super) fn problem(provider: ProviderKind, request: &CompletionRequest) -> Option<String> {
    let pictures = &request.prompt.pictures;
    if pictures.is_empty() {
        return None;
    }
    let limits = PictureLimits::of(provider);
    if limits.pictures == 0 {
        return Some("agents are not shown pictures".to_owned());
    }
    if !request.vision {
        return Some(format!(
            "the model {} cannot be shown pictures. If it sees them, set vision for it in the list of models",
            request.model
        ));
    }
    if pictures.len() > limits.pictures {
        return Some(format!(
            "there are {} pictures, and at most {} can be sent",
            pictures.len(),
            limits.pictures
        ));
    }
    let total: usize = pictures.iter().map(|picture| picture.bytes.len()).sum();
    if total > limits.total_bytes {
        return Some(format!(
            "the pictures have {total} bytes in all, and at most {} can be sent",
            limits.total_bytes
        ));
    }
    pictures.iter().find_map(|picture| picture.problem(&limits))
}

impl PromptPicture {
    /// Its width and height in pixels, if it is a file of its format.
    pub fn size(&self) -> Option<[u32; 2]> {
        match self.format {
            PictureFormat::Png => dimensions::of_png(&self.bytes),
            PictureFormat::Webp => dimensions::of_webp(&self.bytes),
            PictureFormat::Jpeg => dimensions::of_jpeg(&self.bytes),
        }
    }

    fn problem(&self, limits: &PictureLimits) -> Option<String> {
        let (name, format) = (&self.label, self.format);
        if self.label.trim().is_empty() || self.label.chars().count() > MAX_LABEL_CHARS {
            return Some(format!("a picture's label must have 1 to {MAX_LABEL_CHARS} characters"));
        }
        if !limits.takes(format) {
            return Some(format!("the picture “{name}” is a {format}, which is not known to be understood"));
        }
        if self.bytes.len() > limits.bytes {
            return Some(format!(
                "the picture “{name}” has {} bytes, and at most {} can be sent",
                self.bytes.len(),
                limits.bytes
            ));
        }
        let Some([width, height]) = self.size() else {
            return Some(format!("the picture “{name}” is not a {format}"));
        };
        (width.max(height) > MAX_SIDE).then(|| {
            format!(
                "the picture “{name}” has {width} × {height} pixels, and may have {MAX_SIDE} on each side"
            )
        })
    }

    pub(super) fn base64(&self) -> String {
        STANDARD.encode(&self.bytes)
    }

    pub(super) fn data_url(&self) -> String {
        let mut url = format!("data:{};base64,", self.format.media_type());
        STANDARD.encode_string(&self.bytes, &mut url);
        url
    }
}

impl PictureFormat {
    pub fn media_type(self) -> &'static str {
        match self {
            Self::Png => "image/png",
            Self::Webp => "image/webp",
            Self::Jpeg => "image/jpeg",
        }
    }
}

impl fmt::Display for PictureFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Png => "PNG",
            Self::Webp => "WebP",
            Self::Jpeg => "JPEG",
        })
    }
}

/// Without the bytes, which must not get into logs.
impl fmt::Debug for PromptPicture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PromptPicture({:?}, {}, {} bytes)", self.label, self.format, self.bytes.len())
    }
}
