//! How query strings are read.

use serde::de::{Deserialize, Deserializer, Error};

/// `cells=1`, and the other ways to say yes and no.
pub(super) fn flag<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    match String::deserialize(deserializer)?.as_str() {
        "1" | "true" | "" => Ok(true),
        "0" | "false" => Ok(false),
        other => Err(D::Error::custom(format!("{other:?} is neither 1 nor 0"))),
    }
}
