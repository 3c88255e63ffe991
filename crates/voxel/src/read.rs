//! Reading specs: serde visitors that keep a few bytes an entry, know where they
//! are, and stop at the limits while they read.
//!
//! Of duplicate keys the last counts, so a number or a name is judged only when its
//! entry ends.

mod locate;
mod reader;

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

use serde_json::value::RawValue;

use self::locate::locate;
use self::reader::{Place, Reader, Value, echo};
use super::{
    refusal::{Code, Position, Refusal},
    spec::{Cuboid, Dot, Segment, Spec},
};

/// How deep lists and objects may be nested.
const MAX_DEPTH: usize = 32;

/// The longest name of a block, in bytes.
const MAX_NAME: usize = 256;

/// Different spellings of block names in one spec; an index into them has 16 bits.
const MAX_KINDS: usize = 1 << 16;

/// Reads a text that is one JSON object and nothing else; `start` is its place in a longer text.
pub(super) fn read(text: &str, start: Position) -> Result<Spec, Refusal> {
    let mut reader = Reader::default();
    let mut json = serde_json::Deserializer::from_str(text);
    let whole = SpecVisitor(&mut reader);
    match json.deserialize_map(whole).and_then(|()| json.end()) {
        Ok(()) => Ok(reader.spec),
        Err(error) => {
            let place = reader.place;
            let refusal = reader.refusal(&error, start);
            let offset = (refusal.code == Code::BadSpec).then(|| locate(text, &place)).flatten();
            Err(match offset {
                Some(offset) => {
                    let found = Position::of(text.as_bytes(), offset);
                    refusal.at(start.then(found.line, found.column))
                }
                None => refusal,
            })
        }
    }
}

/// One of the three lists: the keys of its entries, and what an entry becomes.
#[derive(Clone, Copy)]
enum List {
    Boxes,
    Lines,
    Blocks,
}

/// What a key of an entry stands for.
enum Slot {
    /// An index into [`List::fields`].
    Coordinate(usize),
    /// A point, with the index of its x.
    Point(usize),
    Type,
    Other,
}

impl List {
    const ALL: [Self; 3] = [Self::Boxes, Self::Lines, Self::Blocks];

    fn name(self) -> &'static str {
        match self {
            Self::Boxes => "boxes",
            Self::Lines => "lines",
            Self::Blocks => "blocks",
        }
    }

    fn fields(self) -> &'static [&'static str] {
        match self {
            Self::Boxes => &["x1", "y1", "z1", "x2", "y2", "z2"],
            Self::Lines => &["from.x", "from.y", "from.z", "to.x", "to.y", "to.z"],
            Self::Blocks => &["x", "y", "z"],
        }
    }

    fn slot(self, key: &str) -> Slot {
        match (self, key) {
            (_, "type") => Slot::Type,
            (Self::Lines, "from") => Slot::Point(0),
            (Self::Lines, "to") => Slot::Point(3),
            (Self::Lines, _) => Slot::Other,
            _ => self.fields().iter().position(|&field| field == key).map_or(Slot::Other, Slot::Coordinate),
        }
    }

    fn clear(self, spec: &mut Spec) {
        match self {
            Self::Boxes => spec.boxes.clear(),
            Self::Lines => spec.lines.clear(),
            Self::Blocks => spec.blocks.clear(),
        }
    }

    fn store(self, spec: &mut Spec, values: [i64; 6], kind: u16) {
        let [x, y, z, x2, y2, z2] = values;
        let (from, to) = ([x, y, z], [x2, y2, z2]);
        match self {
            Self::Boxes => spec.boxes.push(Cuboid { from, to, kind }),
            Self::Lines => spec.lines.push(Segment { from, to, kind }),
            Self::Blocks => spec.blocks.push(Dot::new(from, kind)),
        }
    }
}

/// A key, turned into what it stands for without being copied.
struct Key<F>(F);

impl<'de, T, F: FnOnce(&str) -> T> DeserializeSeed<'de> for Key<F> {
    type Value = T;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<T, D::Error> {
        deserializer.deserialize_identifier(self)
    }
}

impl<T, F: FnOnce(&str) -> T> Visitor<'_> for Key<F> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E>(self, key: &str) -> Result<T, E> {
        Ok((self.0)(key))
    }
}

struct SpecVisitor<'a>(&'a mut Reader);

impl<'de> Visitor<'de> for SpecVisitor<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with boxes, lines and blocks")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        enum Part {
            List(List),
            Version,
            Other,
        }
        let part = |key: &str| match key {
            "version" => Part::Version,
            _ => List::ALL.into_iter().find(|list| list.name() == key).map_or(Part::Other, Part::List),
        };
        let reader = self.0;
        let mut version = Value::Missing;
        while let Some(part) = map.next_key_seed(Key(part))? {
            match part {
                Part::List(list) => map.next_value_seed(ListVisitor { reader, list })?,
                Part::Version => version = map.next_value_seed(ValueVisitor::new(reader, 1))?,
                Part::Other => pass_over(&mut map, reader, 1)?,
            }
        }
        match version {
            Value::Missing => Ok(()),
            Value::Other(text) if text == "\"1.0\"" => {
                reader.spec.has_version = true;
                Ok(())
            }
            other => {
                reader.place.field = "version";
                Err(reader.expected("\"1.0\"", &other))
            }
        }
    }
}

struct ListVisitor<'a> {
    reader: &'a mut Reader,
    list: List,
}

impl<'de> DeserializeSeed<'de> for ListVisitor<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        self.reader.spec.has_list = true;
        self.list.clear(&mut self.reader.spec);
        self.reader.place.list = self.list.name();
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for ListVisitor<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        let Self { reader, list } = self;
        reader.place.index = Some(0);
        while let Some(()) = seq.next_element_seed(EntryVisitor { reader, list })? {
            reader.place.index = reader.place.index.map(|index| index + 1);
        }
        reader.place = Place::default();
        Ok(())
    }
}

struct EntryVisitor<'a> {
    reader: &'a mut Reader,
    list: List,
}

impl<'de> DeserializeSeed<'de> for EntryVisitor<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for EntryVisitor<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let Self { reader, list } = self;
        let fields = list.fields();
        let mut values = [const { Value::Missing }; 6];
        let mut kind = Value::Missing;
        while let Some(slot) = map.next_key_seed(Key(|key: &str| list.slot(key)))? {
            match slot {
                Slot::Coordinate(i) => {
                    reader.place.field = fields[i];
                    values[i] = map.next_value_seed(ValueVisitor::new(reader, 3))?;
                }
                Slot::Point(i) => {
                    reader.place.field = if i == 0 { "from" } else { "to" };
                    let point = map.next_value_seed(PointVisitor { reader, fields: &fields[i..i + 3] })?;
                    values[i..i + 3].iter_mut().zip(point).for_each(|(value, read)| *value = read);
                }
                Slot::Type => {
                    reader.place.field = "type";
                    kind = map.next_value_seed(ValueVisitor::name(reader, 3))?;
                }
                Slot::Other => pass_over(&mut map, reader, 3)?,
            }
        }
        let mut whole = [0; 6];
        for (i, &field) in fields.iter().enumerate() {
            reader.place.field = field;
            whole[i] = match &values[i] {
                Value::Whole(number) => *number,
                other => return Err(reader.expected("a whole number", other)),
            };
        }
        reader.place.field = "type";
        let Value::Name(kind) = kind else {
            return Err(reader.expected("the name of a block", &kind));
        };
        reader.place.field = "";
        list.store(&mut reader.spec, whole, kind);
        Ok(())
    }
}

/// One end of a line.
struct PointVisitor<'a> {
    reader: &'a mut Reader,
    fields: &'static [&'static str],
}

impl<'de> DeserializeSeed<'de> for PointVisitor<'_> {
    type Value = [Value; 3];

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<[Value; 3], D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for PointVisitor<'_> {
    type Value = [Value; 3];

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with x, y and z")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<[Value; 3], A::Error> {
        let mut point = [const { Value::Missing }; 3];
        let axis = |key: &str| ["x", "y", "z"].iter().position(|&name| name == key);
        while let Some(axis) = map.next_key_seed(Key(axis))? {
            match axis {
                Some(axis) => {
                    self.reader.place.field = self.fields[axis];
                    point[axis] = map.next_value_seed(ValueVisitor::new(self.reader, 4))?;
                }
                None => pass_over(&mut map, self.reader, 4)?,
            }
        }
        Ok(point)
    }
}

/// Passes over the value of a key that means nothing here, whatever it is, if it is not too deep.
fn pass_over<'de, A: MapAccess<'de>>(map: &mut A, reader: &mut Reader, depth: usize) -> Result<(), A::Error> {
    let value: &RawValue = map.next_value()?;
    match depth + nesting(value.get()) > MAX_DEPTH {
        true => Err(too_deep(reader)),
        false => Ok(()),
    }
}

/// How many lists and objects stand within each other in a JSON value.
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

fn too_deep<E: Error>(reader: &mut Reader) -> E {
    let message = format!("lists and objects are nested more than {MAX_DEPTH} levels deep");
    reader.fault(Code::BadJson, message)
}

/// The value of a coordinate, a version or a name; anything else is noted for a message.
struct ValueVisitor<'a> {
    reader: &'a mut Reader,
    /// How many lists and objects are around it.
    depth: usize,
    is_name: bool,
}

impl<'a> ValueVisitor<'a> {
    fn new(reader: &'a mut Reader, depth: usize) -> Self {
        Self { reader, depth, is_name: false }
    }

    fn name(reader: &'a mut Reader, depth: usize) -> Self {
        Self { reader, depth, is_name: true }
    }

    fn enter<E: Error>(&mut self) -> Result<(), E> {
        self.is_name = false;
        self.depth += 1;
        if self.depth > MAX_DEPTH { Err(too_deep(self.reader)) } else { Ok(()) }
    }
}

impl<'de> DeserializeSeed<'de> for ValueVisitor<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for ValueVisitor<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_i64<E>(self, number: i64) -> Result<Value, E> {
        Ok(Value::Whole(number))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Value, E> {
        Ok(i64::try_from(number).map_or_else(|_| out_of_range(&number.to_string()), Value::Whole))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Value, E> {
        Ok(match number {
            _ if number.fract() != 0.0 => Value::Other(format!("{number:?}")),
            _ if (-TWO_TO_63..TWO_TO_63).contains(&number) => Value::Whole(number as i64),
            _ => out_of_range(&format!("{number:?}")),
        })
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Value, E> {
        if !self.is_name {
            return Ok(Value::Other(format!("\"{}\"", echo(text))));
        }
        if text.len() > MAX_NAME {
            let got = Value::Other(format!("{} bytes", text.len()));
            return Err(self.reader.expected(&format!("a name of at most {MAX_NAME} bytes"), &got));
        }
        match self.reader.kind(text) {
            Some(kind) => Ok(Value::Name(kind)),
            None => {
                let got = Value::Other("another one".to_owned());
                Err(self.reader.expected(&format!("at most {MAX_KINDS} different names"), &got))
            }
        }
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Other(value.to_string()))
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Other("null".to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut seq: A) -> Result<Value, A::Error> {
        self.enter()?;
        while seq.next_element_seed(ValueVisitor::new(self.reader, self.depth))?.is_some() {}
        Ok(Value::Other("a list".to_owned()))
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<Value, A::Error> {
        self.enter()?;
        while map.next_key_seed(Key(|_: &str| ()))?.is_some() {
            map.next_value_seed(ValueVisitor::new(self.reader, self.depth))?;
        }
        Ok(Value::Other("an object".to_owned()))
    }
}

const TWO_TO_63: f64 = 9_223_372_036_854_775_808.0;

fn out_of_range(number: &str) -> Value {
    Value::Other(format!("{number}, which is beyond 64 bits"))
}
