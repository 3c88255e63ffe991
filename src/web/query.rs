//! How query strings are read and written.

use serde::de::{Deserialize, Deserializer, Error};

/// `cells=1`, and the other ways to say yes and no.
pub(super) fn flag<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    match String::deserialize(deserializer)?.as_str() {
        "1" | "true" | "" => Ok(true),
        "0" | "false" => Ok(false),
        other => Err(D::Error::custom(format!("{other:?} is neither 1 nor 0"))),
    }
}

/// A value in a query string.
pub(super) fn escaped(value: &str) -> String {
    let keep = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.".contains(byte);
    value.bytes().map(|b| if keep(&b) { char::from(b).to_string() } else { format!("%{b:02X}") }).collect()
}
