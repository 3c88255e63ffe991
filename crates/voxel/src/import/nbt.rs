//! Reads NBT without copying it: it walks over the bytes and returns slices of them.
//!
//! Work is bounded by the number of bytes. Nesting is bounded by [`MAX_DEPTH`], and is walked without recursion.

use super::bad_file;
use crate::diagnostics::Rejection;

/// The deepest nesting, as in Minecraft.
const MAX_DEPTH: usize = 512;

/// The type of the tag that every file begins with.
pub const COMPOUND: u8 = 10;

const END: u8 = 0;
const STRING: u8 = 8;
const LIST: u8 = 9;

/// The value of a tag.
#[derive(Clone, Copy)]
pub enum Tag<'a> {
    Number(i64),
    Text(&'a [u8]),
    /// An array of bytes.
    Bytes(&'a [u8]),
    /// An array of ints, four bytes each.
    Ints(&'a [u8]),
    /// An array of longs, eight bytes each.
    Longs(&'a [u8]),
    List(NbtList<'a>),
    Compound(Compound<'a>),
    /// A floating-point number, which is never needed.
    Other,
}

/// Names with tags.
#[derive(Clone, Copy)]
pub struct Compound<'a>(&'a [u8]);

/// Tags of one type.
#[derive(Clone, Copy)]
pub struct NbtList<'a> {
    kind: u8,
    count: u32,
    rest: &'a [u8],
}

impl<'a> Compound<'a> {
    /// The compound at the root of a file.
    pub fn root(file: &'a [u8]) -> Result<Self, Rejection> {
        let mut at = NbtCursor(file);
        if at.u8()? != COMPOUND {
            return Err(bad_file("it does not start with a compound"));
        }
        at.text()?;
        Ok(Self(at.0))
    }

    /// The next name and its tag.
    pub fn next(&mut self) -> Result<Option<(&'a [u8], Tag<'a>)>, Rejection> {
        let mut at = NbtCursor(self.0);
        let kind = at.u8()?;
        if kind == END {
            return Ok(None);
        }
        let name = at.text()?;
        let content = at.content(kind)?;
        self.0 = at.0;
        Ok(Some((name, Tag::of(kind, content)?)))
    }

    /// The tags with these names. Of several with the same name, the last one counts.
    pub fn find<const N: usize>(mut self, names: [&[u8]; N]) -> Result<[Option<Tag<'a>>; N], Rejection> {
        let mut found = [None; N];
        while let Some((name, tag)) = self.next()? {
            if let Some(place) = names.iter().position(|&wanted| wanted == name) {
                found[place] = Some(tag);
            }
        }
        Ok(found)
    }
}

impl<'a> NbtList<'a> {
    pub fn len(&self) -> usize {
        self.count as usize
    }

    pub fn next(&mut self) -> Result<Option<Tag<'a>>, Rejection> {
        if self.count == 0 {
            return Ok(None);
        }
        let mut at = NbtCursor(self.rest);
        let content = at.content(self.kind)?;
        (self.count, self.rest) = (self.count - 1, at.0);
        Tag::of(self.kind, content).map(Some)
    }
}

impl<'a> Tag<'a> {
    fn of(kind: u8, content: &'a [u8]) -> Result<Self, Rejection> {
        let mut at = NbtCursor(content);
        Ok(match kind {
            1..=4 => Self::Number(number(content)),
            STRING => Self::Text(at.text()?),
            7 => Self::Bytes(array(content)),
            11 => Self::Ints(array(content)),
            12 => Self::Longs(array(content)),
            LIST => {
                let (kind, count) = (at.u8()?, at.count()?);
                // Some programs write any count for an empty list, whose type is END.
                Self::List(NbtList { kind, count: if kind == END { 0 } else { count }, rest: at.0 })
            }
            COMPOUND => Self::Compound(Compound(content)),
            _ => Self::Other,
        })
    }

    pub fn number(self) -> Option<i64> {
        if let Self::Number(number) = self { Some(number) } else { None }
    }

    pub fn compound(self) -> Option<Compound<'a>> {
        if let Self::Compound(compound) = self { Some(compound) } else { None }
    }
}

/// The content of an array, which follows its length.
fn array(content: &[u8]) -> &[u8] {
    content.get(4..).unwrap_or_default()
}

/// A signed big-endian number.
pub fn number(bytes: &[u8]) -> i64 {
    let sign = if bytes.first().is_some_and(|&first| first >= 0x80) { -1 } else { 0 };
    bytes.iter().fold(sign, |number, &byte| number << 8 | i64::from(byte))
}

struct NbtCursor<'a>(&'a [u8]);

/// A tag that is being walked over.
enum OpenTag {
    Compound,
    List { kind: u8, left: u32 },
}

impl<'a> NbtCursor<'a> {
    fn take(&mut self, len: usize) -> Result<&'a [u8], Rejection> {
        let (taken, rest) = self.0.split_at_checked(len).ok_or_else(|| bad_file("it ends unexpectedly"))?;
        self.0 = rest;
        Ok(taken)
    }

    fn u8(&mut self) -> Result<u8, Rejection> {
        Ok(self.take(1)?[0])
    }

    fn count(&mut self) -> Result<u32, Rejection> {
        u32::try_from(number(self.take(4)?)).map_err(|_| bad_file("a list or an array has a negative length"))
    }

    fn text(&mut self) -> Result<&'a [u8], Rejection> {
        let len = self.take(2)?;
        self.take(usize::from(len[0]) << 8 | usize::from(len[1]))
    }

    /// Walks over the content of a tag, and returns it.
    fn content(&mut self, kind: u8) -> Result<&'a [u8], Rejection> {
        let start = self.0;
        let mut open = Vec::new();
        self.enter(kind, &mut open)?;
        while let Some(inner) = open.last_mut() {
            let kind = match inner {
                OpenTag::Compound => self.u8()?,
                OpenTag::List { left: 0, .. } => END,
                OpenTag::List { kind, left } => {
                    *left -= 1;
                    *kind
                }
            };
            if kind == END {
                open.pop();
                continue;
            }
            if matches!(inner, OpenTag::Compound) {
                self.text()?;
            }
            self.enter(kind, &mut open)?;
            if open.len() > MAX_DEPTH {
                return Err(bad_file(format!("it is nested more than {MAX_DEPTH} levels deep")));
            }
        }
        Ok(&start[..start.len() - self.0.len()])
    }

    /// Walks over a value, or for a compound or a list only to its first tag.
    fn enter(&mut self, kind: u8, open: &mut Vec<OpenTag>) -> Result<(), Rejection> {
        let each = match kind {
            1 => return self.take(1).map(drop),
            2 => return self.take(2).map(drop),
            3 | 5 => return self.take(4).map(drop),
            4 | 6 => return self.take(8).map(drop),
            STRING => return self.text().map(drop),
            COMPOUND => {
                open.push(OpenTag::Compound);
                return Ok(());
            }
            LIST => {
                let (kind, left) = (self.u8()?, self.count()?);
                open.push(OpenTag::List { kind, left });
                return Ok(());
            }
            7 => 1,
            11 => 4,
            12 => 8,
            _ => return Err(bad_file(format!("it has an unknown tag type, {kind}"))),
        };
        let len = self.count()? as usize;
        self.take(len.saturating_mul(each)).map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn end(bytes: &[u8]) -> String {
        let walked = Compound::root(bytes).and_then(|root| root.find([]));
        walked.map_or_else(|rejection| rejection.message, |[]| "the end".to_owned())
    }

    #[test]
    fn what_is_no_nbt_is_told_at_once() {
        let lists = |depth: usize| {
            let mut bytes = b"\x0a\0\0\x09\0\0".to_vec();
            bytes.extend(b"\x09\0\0\0\x01".repeat(depth));
            bytes.extend(b"\0\0\0\0\0\0");
            bytes
        };
        for (bytes, expected) in [
            (&b"\x0a\0\0\0"[..], "the end"),
            (b"", "it ends unexpectedly"),
            (b"\x09\0\0", "it does not start with a compound"),
            (b"\x0a\0\x05ab", "it ends unexpectedly"),
            (b"\x0a\0\0\x0d\0\x01a", "it has an unknown tag type, 13"),
            (b"\x0a\0\0\x07\0\x01a\xff\xff\xff\xff\0", "a list or an array has a negative length"),
            (b"\x0a\0\0\x0c\0\x01a\x7f\xff\xff\xff\0", "it ends unexpectedly"),
            // Two thousand million tags that take no room.
            (b"\x0a\0\0\x09\0\x01a\0\x7f\xff\xff\xff\0", "the end"),
            (&lists(300), "the end"),
            (&lists(600), "it is nested more than 512 levels deep"),
            (&b"\x0a\0\0".repeat(1_000_000), "it is nested more than 512 levels deep"),
        ] {
            let ended = end(bytes);
            let beginning = &bytes[..bytes.len().min(20)];
            assert_eq!(ended.trim_start_matches("the file cannot be read: "), expected, "{beginning:?}");
        }
    }

    #[test]
    fn numbers_keep_their_sign() {
        assert_eq!([&b"\xff"[..], b"\x7f\xff", b"\x80\0\0\0"].map(number), [-1, 0x7fff, -(1 << 31)]);
    }
}
