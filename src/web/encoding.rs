//! The content encoding that a client prefers, decided once per request.

use axum::extract::Request;
use axum::http::HeaderMap;
use axum::http::header::{ACCEPT_ENCODING, HeaderValue};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Encoding {
    Brotli,
    Gzip,
    Identity,
}

/// Marks a response that must not be compressed on its way.
#[derive(Clone, Copy)]
pub(super) struct NoTransform;

impl Encoding {
    pub(super) fn name(self) -> Option<&'static str> {
        match self {
            Self::Brotli => Some("br"),
            Self::Gzip => Some("gzip"),
            Self::Identity => None,
        }
    }

    /// For what is stored compressed with brotli, and can only be sent so or unpacked.
    pub(super) fn brotli_or_plain(self) -> Self {
        if self == Self::Brotli { self } else { Self::Identity }
    }

    fn preferred(headers: &HeaderMap) -> Self {
        let (mut brotli, mut gzip, mut any) = (None, None, None);
        for offer in offers(headers) {
            let (name, weight) = weighed(offer);
            match name.to_ascii_lowercase().as_str() {
                "br" => brotli = Some(weight),
                "gzip" | "x-gzip" => gzip = Some(weight),
                "*" => any = Some(weight),
                _ => {}
            }
        }
        let brotli = brotli.or(any).unwrap_or(0.0);
        let gzip = gzip.or(any).unwrap_or(0.0);
        match () {
            () if brotli > 0.0 && brotli >= gzip => Self::Brotli,
            () if gzip > 0.0 => Self::Gzip,
            () => Self::Identity,
        }
    }
}

/// Writes the decision back into the request, so that every layer inside makes the same one. A client that accepts
/// nothing at all (`identity;q=0`) gets plain bytes, since the work is done by the time of a refusal.
pub(super) async fn settle(mut request: Request) -> Request {
    let encoding = Encoding::preferred(request.headers());
    match encoding.name() {
        Some(name) => request.headers_mut().insert(ACCEPT_ENCODING, HeaderValue::from_static(name)),
        None => request.headers_mut().remove(ACCEPT_ENCODING),
    };
    request.extensions_mut().insert(encoding);
    request
}

fn offers(headers: &HeaderMap) -> impl Iterator<Item = &str> {
    headers
        .get_all(ACCEPT_ENCODING)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
}

fn weighed(offer: &str) -> (&str, f32) {
    let (name, parameter) = offer.split_once(';').unwrap_or((offer, ""));
    let weight = parameter.trim().strip_prefix("q=").map_or(1.0, |text| text.trim().parse().unwrap_or(0.0));
    (name.trim(), weight)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_visitors_preference_decides() {
        let cases = [
            (None, Encoding::Identity),
            (Some(""), Encoding::Identity),
            (Some("gzip, deflate, br, zstd"), Encoding::Brotli),
            (Some("gzip"), Encoding::Gzip),
            (Some("GZIP;q=0.5"), Encoding::Gzip),
            (Some("br;q=0.2, gzip;q=0.9"), Encoding::Gzip),
            (Some("br;q=0, gzip"), Encoding::Gzip),
            (Some("*"), Encoding::Brotli),
            (Some("*;q=0.3, br;q=0"), Encoding::Gzip),
            (Some("identity;q=0, *;q=0"), Encoding::Identity),
            (Some("br;q=nonsense"), Encoding::Identity),
        ];
        for (header, expected) in cases {
            let headers =
                header.map(|value| (ACCEPT_ENCODING, HeaderValue::from_static(value))).into_iter().collect();
            assert_eq!(Encoding::preferred(&headers), expected, "{header:?}");
        }
    }
}
