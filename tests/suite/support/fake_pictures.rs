//! Pictures in requests, as the providers take them: the form of each part, the encoding, what the file really is, and
//! the limits that the providers document. Files are decoded with other people's decoders.

use std::io::Cursor;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use super::FakeProtocol;

/// A picture that a provider has received, with the text before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReceivedPicture {
    pub label: String,
    pub media_type: String,
    pub width: u32,
    pub height: u32,
    pub bytes: Vec<u8>,
}

/// What a provider documents about pictures.
struct PictureRules {
    media_types: &'static [&'static str],
    pictures: usize,
    /// Of one picture in base64, and of all files together.
    base64_bytes: usize,
    total_bytes: usize,
    side: u32,
    /// The longest side in a request with more than 20 pictures.
    side_of_many: u32,
}

impl FakeProtocol {
    /// The pictures of a request in their order, or why the provider would reject one of them.
    pub fn pictures(self, body: &Value) -> Result<Vec<ReceivedPicture>, String> {
        let mut label = None;
        let mut pictures = Vec::new();
        for part in self.user_parts(body)? {
            match self.read_part(part)? {
                UserPart::Text(text) => label = Some(text.to_owned()),
                UserPart::Picture { media_type, base64 } => {
                    let label = label.take().ok_or("a picture without a label before it")?;
                    pictures.push(self.read_picture(label, media_type, base64)?);
                }
            }
        }
        if label.is_none() && !pictures.is_empty() {
            return Err("pictures without a question after them".to_owned());
        }
        self.check_sum(&pictures)?;
        Ok(pictures)
    }

    /// The parts of what the user says; none if it is a plain text.
    fn user_parts(self, body: &Value) -> Result<Vec<&Value>, String> {
        let (turns, content) = match self {
            Self::OpenAi => ("input", "content"),
            Self::Google => ("contents", "parts"),
            Self::Anthropic | Self::Compatible => ("messages", "content"),
        };
        let turns = body[turns].as_array().ok_or("no turns")?;
        let of_user = turns.iter().filter(|turn| turn["role"] == "user");
        let contents = of_user.map(|turn| match &turn[content] {
            Value::String(_) => Ok(Vec::new()),
            Value::Array(parts) if !parts.is_empty() => Ok(parts.iter().collect()),
            other => Err(format!("the content {other}")),
        });
        Ok(contents.collect::<Result<Vec<_>, _>>()?.concat())
    }

    fn read_part(self, part: &Value) -> Result<UserPart<'_>, String> {
        let text = |name| part[name].as_str().ok_or_else(|| format!("a part without {name}"));
        let kind = part["type"].as_str().unwrap_or_default();
        match (self, kind) {
            (Self::Google, "") if part.get("text").is_some() => {
                only_fields(part, &["text"])?;
                Ok(UserPart::Text(text("text")?))
            }
            (Self::Google, "") => {
                only_fields(part, &["inlineData"])?;
                only_fields(&part["inlineData"], &["mimeType", "data"])?;
                UserPart::picture(&part["inlineData"]["mimeType"], &part["inlineData"]["data"])
            }
            (Self::OpenAi, "input_text") | (Self::Anthropic | Self::Compatible, "text") => {
                only_fields(part, &["type", "text"])?;
                Ok(UserPart::Text(text("text")?))
            }
            (Self::OpenAi, "input_image") => {
                only_fields(part, &["type", "image_url", "detail"])?;
                if !["low", "high", "auto", "original"].contains(&text("detail")?) {
                    return Err(format!("the detail {}", part["detail"]));
                }
                UserPart::data_url(text("image_url")?)
            }
            (Self::Compatible, "image_url") => {
                only_fields(part, &["type", "image_url"])?;
                only_fields(&part["image_url"], &["url"])?;
                UserPart::data_url(part["image_url"]["url"].as_str().ok_or("no url")?)
            }
            (Self::Anthropic, "image") => {
                only_fields(part, &["type", "source"])?;
                let source = &part["source"];
                only_fields(source, &["type", "media_type", "data"])?;
                if source["type"] != "base64" {
                    return Err(format!("the source {}", source["type"]));
                }
                UserPart::picture(&source["media_type"], &source["data"])
            }
            (_, kind) => Err(format!("a part of the type {kind:?}")),
        }
    }

    fn read_picture(self, label: String, media_type: &str, base64: &str) -> Result<ReceivedPicture, String> {
        let rules = self.picture_rules();
        if !rules.media_types.contains(&media_type) {
            return Err(format!("a picture of the type {media_type}"));
        }
        if base64.len() > rules.base64_bytes {
            return Err(format!("a picture with {} characters of base64", base64.len()));
        }
        let bytes = STANDARD.decode(base64).map_err(|error| format!("base64: {error}"))?;
        let (width, height) = decode(media_type, &bytes).ok_or_else(|| format!("it is no {media_type}"))?;
        Ok(ReceivedPicture { label, media_type: media_type.to_owned(), width, height, bytes })
    }

    fn check_sum(self, pictures: &[ReceivedPicture]) -> Result<(), String> {
        let rules = self.picture_rules();
        let side = if pictures.len() > 20 { rules.side_of_many } else { rules.side };
        let total: usize = pictures.iter().map(|picture| picture.bytes.len()).sum();
        let longest = pictures.iter().map(|picture| picture.width.max(picture.height)).max();
        if pictures.len() > rules.pictures {
            return Err(format!("{} pictures", pictures.len()));
        }
        if total > rules.total_bytes {
            return Err(format!("{total} bytes of pictures"));
        }
        match longest.filter(|longest| *longest > side) {
            Some(longest) => Err(format!("a picture of {longest} pixels")),
            None => Ok(()),
        }
    }

    fn picture_rules(self) -> PictureRules {
        let all = &["image/png", "image/jpeg", "image/webp"];
        let unbounded = u32::MAX;
        match self {
            Self::OpenAi => PictureRules {
                media_types: all,
                pictures: 500,
                base64_bytes: 64 << 20,
                total_bytes: 50_000_000,
                side: unbounded,
                side_of_many: unbounded,
            },
            Self::Anthropic => PictureRules {
                media_types: all,
                pictures: 100,
                base64_bytes: 5 << 20,
                total_bytes: 24_000_000,
                side: 8_000,
                side_of_many: 2_000,
            },
            Self::Google => PictureRules {
                media_types: all,
                pictures: 900,
                base64_bytes: 9_000_000,
                total_bytes: 15_000_000,
                side: unbounded,
                side_of_many: unbounded,
            },
            Self::Compatible => PictureRules {
                media_types: &["image/png", "image/jpeg"],
                pictures: 100,
                base64_bytes: 20 << 20,
                total_bytes: 20 << 20,
                side: unbounded,
                side_of_many: unbounded,
            },
        }
    }
}

enum UserPart<'a> {
    Text(&'a str),
    Picture { media_type: &'a str, base64: &'a str },
}

impl<'a> UserPart<'a> {
    fn picture(media_type: &'a Value, base64: &'a Value) -> Result<Self, String> {
        let (media_type, base64) =
            media_type.as_str().zip(base64.as_str()).ok_or("a picture without data")?;
        Ok(Self::Picture { media_type, base64 })
    }

    fn data_url(url: &'a str) -> Result<Self, String> {
        let (media_type, base64) = url
            .strip_prefix("data:")
            .and_then(|rest| rest.split_once(";base64,"))
            .ok_or("an address that is no data URL")?;
        Ok(Self::Picture { media_type, base64 })
    }
}

fn only_fields(object: &Value, fields: &[&str]) -> Result<(), String> {
    let object = object.as_object().ok_or("a part that is no object")?;
    let missing = fields.iter().find(|field| !object.contains_key(**field));
    let unknown = object.keys().find(|name| !fields.contains(&name.as_str()));
    match (missing, unknown) {
        (None, None) => Ok(()),
        (missing, unknown) => Err(format!("missing {missing:?}, unknown {unknown:?}")),
    }
}

/// The width and height of a file that can be decoded whole. Of a JPEG only the markers at both ends are looked at.
fn decode(media_type: &str, bytes: &[u8]) -> Option<(u32, u32)> {
    match media_type {
        "image/png" => {
            let mut reader = png::Decoder::new(Cursor::new(bytes)).read_info().ok()?;
            let mut pixels = vec![0; reader.output_buffer_size()?];
            reader.next_frame(&mut pixels).ok()?;
            Some((reader.info().width, reader.info().height))
        }
        "image/webp" => {
            let mut decoder = image_webp::WebPDecoder::new(Cursor::new(bytes)).ok()?;
            let mut pixels = vec![0; decoder.output_buffer_size()?];
            decoder.read_image(&mut pixels).ok()?;
            Some(decoder.dimensions())
        }
        _ => {
            let is_whole = bytes.starts_with(b"\xff\xd8\xff") && bytes.ends_with(b"\xff\xd9");
            is_whole.then_some((1, 1))
        }
    }
}
