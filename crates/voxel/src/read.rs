//! Reads specs with serde visitors, which keep only a few bytes per entry, know their place for messages, and stop at
//! the limits while they read.
//!
//! The last of duplicate keys counts, so a value is judged only when its entry ends.

mod locate;
mod reader;
mod value;

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};

use self::locate::locate;
use self::reader::{SpecPath, SpecReader, SpecValue};
use self::value::{KeyVisitor, ValueVisitor, skip_value};
use super::diagnostics::{Position, Rejection, RejectionCode};
use super::spec::{Cuboid, Segment, SingleBlock, Spec};

/// Reads a text that is exactly one JSON object. `start` is its place in a longer text.
pub(super) fn read(text: &str, start: Position) -> Result<Spec, Rejection> {
    let mut reader = SpecReader::default();
    let mut json = serde_json::Deserializer::from_str(text);
    let whole = SpecVisitor(&mut reader);
    match json.deserialize_map(whole).and_then(|()| json.end()) {
        Ok(()) => Ok(reader.spec),
        Err(error) => {
            let path = reader.path;
            let rejection = reader.rejection(&error, start);
            let offset = (rejection.code == RejectionCode::BadSpec).then(|| locate(text, &path)).flatten();
            Err(match offset {
                Some(offset) => {
                    let found = Position::of(text.as_bytes(), offset);
                    rejection.at(start.offset_by(found.line, found.column))
                }
                None => rejection,
            })
        }
    }
}

/// One of the three lists: the keys of its entries, and how an entry is stored.
#[derive(Clone, Copy)]
enum SpecList {
    Boxes,
    Lines,
    Blocks,
}

/// The meaning of a key in an entry.
enum EntryKey {
    /// An index into [`SpecList::fields`].
    Coordinate(usize),
    /// A point; the index is that of its x.
    Point(usize),
    Type,
    Other,
}

impl SpecList {
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

    fn entry_key(self, key: &str) -> EntryKey {
        match (self, key) {
            (_, "type") => EntryKey::Type,
            (Self::Lines, "from") => EntryKey::Point(0),
            (Self::Lines, "to") => EntryKey::Point(3),
            (Self::Lines, _) => EntryKey::Other,
            _ => self
                .fields()
                .iter()
                .position(|&field| field == key)
                .map_or(EntryKey::Other, EntryKey::Coordinate),
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
            Self::Blocks => spec.blocks.push(SingleBlock::new(from, kind)),
        }
    }
}

struct SpecVisitor<'a>(&'a mut SpecReader);

impl<'de> Visitor<'de> for SpecVisitor<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with boxes, lines and blocks")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        enum SpecKey {
            List(SpecList),
            Version,
            Other,
        }
        let part = |key: &str| match key {
            "version" => SpecKey::Version,
            _ => SpecList::ALL
                .into_iter()
                .find(|list| list.name() == key)
                .map_or(SpecKey::Other, SpecKey::List),
        };
        let reader = self.0;
        let mut version = SpecValue::Missing;
        while let Some(part) = map.next_key_seed(KeyVisitor(part))? {
            match part {
                SpecKey::List(list) => map.next_value_seed(ListVisitor { reader, list })?,
                SpecKey::Version => version = map.next_value_seed(ValueVisitor::new(reader, 1))?,
                SpecKey::Other => skip_value(&mut map, reader, 1)?,
            }
        }
        match version {
            SpecValue::Missing => Ok(()),
            SpecValue::Other(text) if text == "\"1.0\"" => {
                reader.spec.has_version = true;
                Ok(())
            }
            other => {
                reader.path.field = "version";
                Err(reader.expected("\"1.0\"", &other))
            }
        }
    }
}

struct ListVisitor<'a> {
    reader: &'a mut SpecReader,
    list: SpecList,
}

impl<'de> DeserializeSeed<'de> for ListVisitor<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        self.reader.spec.has_list = true;
        self.list.clear(&mut self.reader.spec);
        self.reader.path.list = self.list.name();
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
        reader.path.index = Some(0);
        while let Some(()) = seq.next_element_seed(EntryVisitor { reader, list })? {
            reader.path.index = reader.path.index.map(|index| index + 1);
        }
        reader.path = SpecPath::default();
        Ok(())
    }
}

struct EntryVisitor<'a> {
    reader: &'a mut SpecReader,
    list: SpecList,
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
        let mut values = [const { SpecValue::Missing }; 6];
        let mut kind = SpecValue::Missing;
        while let Some(entry_key) = map.next_key_seed(KeyVisitor(|key: &str| list.entry_key(key)))? {
            match entry_key {
                EntryKey::Coordinate(i) => {
                    reader.path.field = fields[i];
                    values[i] = map.next_value_seed(ValueVisitor::new(reader, 3))?;
                }
                EntryKey::Point(i) => {
                    reader.path.field = if i == 0 { "from" } else { "to" };
                    let point = map.next_value_seed(PointVisitor { reader, fields: &fields[i..i + 3] })?;
                    values[i..i + 3].iter_mut().zip(point).for_each(|(value, read)| *value = read);
                }
                EntryKey::Type => {
                    reader.path.field = "type";
                    kind = map.next_value_seed(ValueVisitor::name(reader, 3))?;
                }
                EntryKey::Other => skip_value(&mut map, reader, 3)?,
            }
        }
        let mut whole = [0; 6];
        for (i, &field) in fields.iter().enumerate() {
            reader.path.field = field;
            whole[i] = match &values[i] {
                SpecValue::Integer(number) => *number,
                other => return Err(reader.expected("a whole number", other)),
            };
        }
        reader.path.field = "type";
        let SpecValue::Name(kind) = kind else {
            return Err(reader.expected("a block name", &kind));
        };
        reader.path.field = "";
        list.store(&mut reader.spec, whole, kind);
        Ok(())
    }
}

/// One end of a line.
struct PointVisitor<'a> {
    reader: &'a mut SpecReader,
    fields: &'static [&'static str],
}

impl<'de> DeserializeSeed<'de> for PointVisitor<'_> {
    type Value = [SpecValue; 3];

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<[SpecValue; 3], D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for PointVisitor<'_> {
    type Value = [SpecValue; 3];

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with x, y and z")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<[SpecValue; 3], A::Error> {
        let mut point = [const { SpecValue::Missing }; 3];
        let axis = |key: &str| ["x", "y", "z"].iter().position(|&name| name == key);
        while let Some(axis) = map.next_key_seed(KeyVisitor(axis))? {
            match axis {
                Some(axis) => {
                    self.reader.path.field = self.fields[axis];
                    point[axis] = map.next_value_seed(ValueVisitor::new(self.reader, 4))?;
                }
                None => skip_value(&mut map, self.reader, 4)?,
            }
        }
        Ok(point)
    }
}
