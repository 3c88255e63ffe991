//! Finds the place of a wrong value in the text. Reading keeps no places, because specs can have millions of values.

use std::fmt;

use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::{reader::SpecPath, value::KeyVisitor};

/// The offset of a value, or of the object that lacks it. None if the text is not JSON further on.
pub(super) fn locate(text: &str, path: &SpecPath) -> Option<usize> {
    let keys = path.field.split('.').filter(|key| !key.is_empty());
    let mut value = match path.list {
        "" => text,
        list => member(text, list)?,
    };
    if let Some(index) = path.index {
        value = element(value, index)?;
    }
    for key in keys {
        match member(value, key) {
            Some(inside) => value = inside,
            None => break,
        }
    }
    // Every value is a slice of the text.
    (value.as_ptr() as usize).checked_sub(text.as_ptr() as usize)
}

fn member<'a>(object: &'a str, key: &str) -> Option<&'a str> {
    serde_json::Deserializer::from_str(object).deserialize_map(Member(key)).ok()?
}

fn element(list: &str, index: usize) -> Option<&str> {
    serde_json::Deserializer::from_str(list).deserialize_seq(Element(index)).ok()?
}

/// The value of the last member with this key. No other value is kept, because there may be millions.
struct Member<'k>(&'k str);

impl<'de> Visitor<'de> for Member<'_> {
    type Value = Option<&'de str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut found = None;
        while let Some(is_match) = map.next_key_seed(KeyVisitor(|key: &str| key == self.0))? {
            let value: &RawValue = map.next_value()?;
            if is_match {
                found = Some(value.get());
            }
        }
        Ok(found)
    }
}

/// The element of a list that has this index.
struct Element(usize);

impl<'de> Visitor<'de> for Element {
    type Value = Option<&'de str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut found = None;
        let mut index = 0;
        while let Some(element) = seq.next_element::<&RawValue>()? {
            if index == self.0 {
                found = Some(element.get());
            }
            index += 1;
        }
        Ok(found)
    }
}
