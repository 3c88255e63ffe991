//! Keys and single values, and how deep they may be nested.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::reader::{SpecReader, SpecValue, excerpt};
use crate::diagnostics::RejectionCode;
use crate::palette::MAX_NAME;

/// How deep lists and objects may be nested.
const MAX_DEPTH: usize = 32;

/// The number of different spellings of block names in one spec; an index into them has 16 bits.
const MAX_KINDS: usize = 1 << 16;

/// Maps a key to its meaning without copying it.
pub(super) struct KeyVisitor<F>(pub F);

impl<'de, T, F: FnOnce(&str) -> T> DeserializeSeed<'de> for KeyVisitor<F> {
    type Value = T;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<T, D::Error> {
        deserializer.deserialize_identifier(self)
    }
}

impl<T, F: FnOnce(&str) -> T> Visitor<'_> for KeyVisitor<F> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E>(self, key: &str) -> Result<T, E> {
        Ok((self.0)(key))
    }
}

/// Skips the value of an unknown key, unless it is nested too deeply.
pub(super) fn skip_value<'de, A: MapAccess<'de>>(
    map: &mut A,
    reader: &mut SpecReader,
    depth: usize,
) -> Result<(), A::Error> {
    let value: &RawValue = map.next_value()?;
    match depth + nesting(value.get()) > MAX_DEPTH {
        true => Err(too_deep(reader)),
        false => Ok(()),
    }
}

/// The depth of lists and objects inside each other in a JSON value.
fn nesting(json: &str) -> usize {
    let (mut depth, mut deepest) = (0, 0);
    let (mut in_text, mut escaped) = (false, false);
    for byte in json.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = in_text,
            b'"' => in_text = !in_text,
            b'[' | b'{' if !in_text => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b']' | b'}' if !in_text => depth -= 1,
            _ => {}
        }
    }
    deepest
}

fn too_deep<E: Error>(reader: &mut SpecReader) -> E {
    let message = format!("lists and objects are nested more than {MAX_DEPTH} levels deep");
    reader.fail(RejectionCode::BadJson, message)
}

/// Reads the value of a coordinate, a version or a name. Any other value is described for a message.
pub(super) struct ValueVisitor<'a> {
    reader: &'a mut SpecReader,
    /// The number of lists and objects around the value.
    depth: usize,
    is_name: bool,
}

impl<'a> ValueVisitor<'a> {
    pub fn new(reader: &'a mut SpecReader, depth: usize) -> Self {
        Self { reader, depth, is_name: false }
    }

    pub fn name(reader: &'a mut SpecReader, depth: usize) -> Self {
        Self { reader, depth, is_name: true }
    }

    fn enter<E: Error>(&mut self) -> Result<(), E> {
        self.is_name = false;
        self.depth += 1;
        if self.depth > MAX_DEPTH { Err(too_deep(self.reader)) } else { Ok(()) }
    }
}

impl<'de> DeserializeSeed<'de> for ValueVisitor<'_> {
    type Value = SpecValue;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<SpecValue, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for ValueVisitor<'_> {
    type Value = SpecValue;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_i64<E>(self, number: i64) -> Result<SpecValue, E> {
        Ok(SpecValue::Integer(number))
    }

    fn visit_u64<E>(self, number: u64) -> Result<SpecValue, E> {
        Ok(i64::try_from(number).map_or_else(|_| out_of_range(&number.to_string()), SpecValue::Integer))
    }

    fn visit_f64<E>(self, number: f64) -> Result<SpecValue, E> {
        Ok(match number {
            _ if number.fract() != 0.0 => SpecValue::Other(format!("{number:?}")),
            _ if (-TWO_TO_63..TWO_TO_63).contains(&number) => SpecValue::Integer(number as i64),
            _ => out_of_range(&format!("{number:?}")),
        })
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<SpecValue, E> {
        if !self.is_name {
            return Ok(SpecValue::Other(format!("\"{}\"", excerpt(text))));
        }
        if text.len() > MAX_NAME {
            let got = SpecValue::Other(format!("{} bytes", text.len()));
            return Err(self.reader.expected(&format!("a name of at most {MAX_NAME} bytes"), &got));
        }
        match self.reader.kind(text) {
            Some(kind) => Ok(SpecValue::Name(kind)),
            None => {
                let got = SpecValue::Other("one more".to_owned());
                Err(self.reader.expected(&format!("at most {MAX_KINDS} different names"), &got))
            }
        }
    }

    fn visit_bool<E>(self, value: bool) -> Result<SpecValue, E> {
        Ok(SpecValue::Other(value.to_string()))
    }

    fn visit_unit<E>(self) -> Result<SpecValue, E> {
        Ok(SpecValue::Other("null".to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut seq: A) -> Result<SpecValue, A::Error> {
        self.enter()?;
        while seq.next_element_seed(ValueVisitor::new(self.reader, self.depth))?.is_some() {}
        Ok(SpecValue::Other("a list".to_owned()))
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<SpecValue, A::Error> {
        self.enter()?;
        while map.next_key_seed(KeyVisitor(|_: &str| ()))?.is_some() {
            map.next_value_seed(ValueVisitor::new(self.reader, self.depth))?;
        }
        Ok(SpecValue::Other("an object".to_owned()))
    }
}

const TWO_TO_63: f64 = 9_223_372_036_854_775_808.0;

fn out_of_range(number: &str) -> SpecValue {
    SpecValue::Other(format!("{number}, which does not fit in 64 bits"))
}
