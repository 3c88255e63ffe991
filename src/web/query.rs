//! How query strings are read and written.
//!
//! The API is strict: a parameter that it does not know or cannot read is an error. Pages are lenient, because their
//! addresses are shared: they come back with parameters of mail programs and social networks, cut off, or years
//! later. A page therefore ignores whatever it cannot use ([`PageQuery`]).

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::fmt::Display;

use axum::extract::{FromRequestParts, Query};
use axum::http::Uri;
use axum::http::request::Parts;
use serde::de::{Deserialize, DeserializeOwned, Deserializer, Error};
use url::form_urlencoded;

/// No form of this site sends more.
const MAX_PARAMETERS: usize = 32;
/// The longest value that a form sends is a prompt of 800 characters.
const MAX_VALUE_BYTES: usize = 4096;

/// The query of a page. Parameters that are unknown or unreadable are ignored; of a repeated parameter, the last
/// readable value counts.
///
/// `T` needs `#[serde(default)]`, so that each of its fields can be missing, and must not deny unknown fields.
pub(super) struct PageQuery<T>(pub T);

impl<S: Sync, T: DeserializeOwned + Default> FromRequestParts<S> for PageQuery<T> {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(Self(read(parts.uri.query().unwrap_or_default())))
    }
}

/// See [`PageQuery`].
pub(super) fn read<T: DeserializeOwned + Default>(query: &str) -> T {
    let mut readable = BTreeMap::new();
    for (name, value) in parameters(query) {
        if parse::<T>([(&*name, &*value)]).is_some() {
            readable.insert(name, value);
        }
    }
    parse(readable.iter().map(|(name, value)| (&**name, &**value))).unwrap_or_default()
}

fn parse<'a, T: DeserializeOwned>(parameters: impl IntoIterator<Item = (&'a str, &'a str)>) -> Option<T> {
    let query = form_urlencoded::Serializer::new(String::from("/?")).extend_pairs(parameters).finish();
    let Query(value) = Query::try_from_uri(&query.parse::<Uri>().ok()?).ok()?;
    Some(value)
}

/// The first parameters of a query. Values that are not text are left out, long ones are cut.
pub(super) fn parameters(query: &str) -> impl Iterator<Item = (Cow<'_, str>, Cow<'_, str>)> {
    let is_text = |(_, value): &(_, Cow<'_, str>)| !value.contains(['\0', char::REPLACEMENT_CHARACTER]);
    form_urlencoded::parse(query.as_bytes()).take(MAX_PARAMETERS).filter(is_text).map(|(name, value)| {
        let end = value.floor_char_boundary(MAX_VALUE_BYTES);
        let value = if end < value.len() { value[..end].to_owned().into() } else { value };
        (name, value)
    })
}

/// The number of a page of a list, from 1. A number that is too large for its type becomes the largest one, which
/// is still beyond the end of every list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PageNumber(u32);

impl PageNumber {
    pub fn get(self) -> i64 {
        self.0.into()
    }
}

impl Default for PageNumber {
    fn default() -> Self {
        Self(1)
    }
}

impl<'de> Deserialize<'de> for PageNumber {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(D::Error::custom(format!("{text:?} is not a page number")));
        }
        Ok(Self(text.parse().unwrap_or(u32::MAX).max(1)))
    }
}

/// The id of an entry in a list. Ids count from 1.
pub(super) fn id<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<i64>, D::Error> {
    match i64::deserialize(deserializer)? {
        id @ 1.. => Ok(Some(id)),
        other => Err(D::Error::custom(format!("{other} is not an id"))),
    }
}

/// `cells=1`, and the other spellings of yes and no.
pub(super) fn flag<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    match String::deserialize(deserializer)?.as_str() {
        "1" | "true" | "" => Ok(true),
        "0" | "false" => Ok(false),
        other => Err(D::Error::custom(format!("{other:?} is neither 1 nor 0"))),
    }
}

/// Several names in one parameter: `model=first,second`.
pub(super) fn names<'de, T: TryFrom<String, Error: Display>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Vec<T>, D::Error> {
    let text = String::deserialize(deserializer)?;
    let names = text.split(',').map(|name| T::try_from(name.trim().to_owned()).map_err(D::Error::custom));
    names.collect()
}

/// An address with those of the fields in its query that have a value.
pub(super) fn address(path: &str, fields: &[(&str, &str)]) -> String {
    let given = fields.iter().filter(|(_, value)| !value.is_empty());
    let query: Vec<_> = given.map(|(name, value)| format!("{name}={}", escaped(value))).collect();
    if query.is_empty() { path.to_owned() } else { format!("{path}?{}", query.join("&")) }
}

/// A value, escaped for a query string.
pub(super) fn escaped(value: &str) -> String {
    let keep = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.".contains(byte);
    value.bytes().map(|b| if keep(&b) { char::from(b).to_string() } else { format!("%{b:02X}") }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Default, PartialEq, serde::Deserialize)]
    #[serde(default)]
    struct TestQuery {
        words: String,
        page: PageNumber,
        sort: Option<TestSort>,
        #[serde(deserialize_with = "id")]
        before: Option<i64>,
    }

    #[derive(Debug, PartialEq, serde::Deserialize)]
    #[serde(rename_all = "kebab-case")]
    enum TestSort {
        BothBad,
    }

    fn page(number: u32) -> TestQuery {
        TestQuery { page: PageNumber(number), ..TestQuery::default() }
    }

    #[test]
    fn what_cannot_be_read_is_passed_over() {
        let words = |words: &str| TestQuery { words: words.to_owned(), ..TestQuery::default() };
        for (query, expected) in [
            ("", page(1)),
            ("page=3", page(3)),
            ("utm_source=x&page=3&fbclid=%ff", page(3)),
            ("page=abc", page(1)),
            ("page=-1", page(1)),
            ("page=0", page(1)),
            ("page=", page(1)),
            ("page=1.5", page(1)),
            ("page=99999999999999999999", page(u32::MAX)),
            ("page=2&page=5", page(5)),
            ("page=2&page=x", page(2)),
            ("page[]=2&a&b&&==&%", page(1)),
            ("sort=both-bad", TestQuery { sort: Some(TestSort::BothBad), ..TestQuery::default() }),
            ("sort=best", page(1)),
            ("before=7", TestQuery { before: Some(7), ..TestQuery::default() }),
            ("before=-7&before=99999999999999999999", page(1)),
            ("words=a+b%20%C3%A9", words("a b é")),
            ("words=%ff", page(1)),
            ("words=a%00b", page(1)),
        ] {
            assert_eq!(read::<TestQuery>(query), expected, "{query}");
        }
    }

    #[test]
    fn what_is_read_is_bounded() {
        let long = read::<TestQuery>(&format!("words={}", "%C3%A9".repeat(10_000)));
        assert_eq!(long.words, "é".repeat(MAX_VALUE_BYTES / 2));
        let late = format!("{}page=2", "x=y&".repeat(MAX_PARAMETERS));
        assert_eq!(read::<TestQuery>(&late), page(1));
    }
}
