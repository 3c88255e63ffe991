//! Data behind ids in commands, as in `chest{Items:[{Slot:0b,id:"bread",Count:3b}]}`.

use std::collections::BTreeMap;

/// How deep data may lie within other data, and how many parts it may have.
const MAX_DEPTH: usize = 16;
const MAX_PARTS: usize = 2000;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Snbt {
    Number(f64),
    Text(String),
    List(Vec<Snbt>),
    Compound(BTreeMap<String, Snbt>),
}

impl Snbt {
    /// Reads data from the beginning of a text. Returns it and what follows.
    pub fn read(text: &str) -> Result<(Self, &str), String> {
        let mut reader = SnbtReader { rest: text, parts: 0 };
        let value = reader.value(0)?;
        Ok((value, reader.rest))
    }

    pub fn get(&self, name: &str) -> Option<&Self> {
        match self {
            Self::Compound(parts) => parts.get(name),
            _ => None,
        }
    }

    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    pub fn number(&self) -> Option<f64> {
        match self {
            Self::Number(number) => Some(*number),
            _ => None,
        }
    }

    pub fn list(&self) -> &[Self] {
        match self {
            Self::List(list) => list,
            _ => &[],
        }
    }
}

struct SnbtReader<'a> {
    rest: &'a str,
    parts: usize,
}

impl<'a> SnbtReader<'a> {
    fn value(&mut self, depth: usize) -> Result<Snbt, String> {
        self.parts += 1;
        if depth > MAX_DEPTH || self.parts > MAX_PARTS {
            return Err(format!("data has at most {MAX_PARTS} parts, {MAX_DEPTH} deep"));
        }
        self.skip_space();
        match self.rest.chars().next() {
            Some('{') => self.compound(depth),
            Some('[') => self.list(depth),
            Some('"' | '\'') => self.quoted().map(Snbt::Text),
            Some(_) => {
                let word = self.word();
                if word.is_empty() { Err(self.unexpected()) } else { Ok(number_or_text(word)) }
            }
            None => Err("data ends too early".to_owned()),
        }
    }

    fn compound(&mut self, depth: usize) -> Result<Snbt, String> {
        self.take('{')?;
        let mut parts = BTreeMap::new();
        while !self.ends('}') {
            self.skip_space();
            let name = match self.rest.chars().next() {
                Some('"' | '\'') => self.quoted()?,
                _ => self.word().to_owned(),
            };
            if name.is_empty() {
                return Err(self.unexpected());
            }
            self.skip_space();
            self.take(':')?;
            parts.insert(name, self.value(depth + 1)?);
            self.separator('}')?;
        }
        self.take('}')?;
        Ok(Snbt::Compound(parts))
    }

    fn list(&mut self, depth: usize) -> Result<Snbt, String> {
        self.take('[')?;
        // Arrays of numbers say which numbers: [I;1,2].
        for kind in ["B;", "I;", "L;"] {
            self.rest = self.rest.strip_prefix(kind).unwrap_or(self.rest);
        }
        let mut list = Vec::new();
        while !self.ends(']') {
            list.push(self.value(depth + 1)?);
            self.separator(']')?;
        }
        self.take(']')?;
        Ok(Snbt::List(list))
    }

    fn quoted(&mut self) -> Result<String, String> {
        let mut characters = self.rest.char_indices();
        let quote = characters.next().map(|(_, quote)| quote);
        let (mut text, mut is_escaped) = (String::new(), false);
        for (at, character) in characters {
            if is_escaped {
                text.push(character);
                is_escaped = false;
            } else if character == '\\' {
                is_escaped = true;
            } else if Some(character) == quote {
                self.rest = &self.rest[at + character.len_utf8()..];
                return Ok(text);
            } else {
                text.push(character);
            }
        }
        Err("a text in the data has no end".to_owned())
    }

    fn word(&mut self) -> &'a str {
        let is_part = |character: char| character.is_ascii_alphanumeric() || "_-+.#".contains(character);
        let end = self.rest.find(|character| !is_part(character)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word
    }

    fn ends(&mut self, end: char) -> bool {
        self.skip_space();
        self.rest.starts_with(end)
    }

    fn separator(&mut self, end: char) -> Result<(), String> {
        self.skip_space();
        if self.rest.starts_with(end) { Ok(()) } else { self.take(',') }
    }

    fn take(&mut self, expected: char) -> Result<(), String> {
        match self.rest.strip_prefix(expected) {
            Some(rest) => {
                self.rest = rest;
                Ok(())
            }
            None => Err(self.unexpected()),
        }
    }

    fn skip_space(&mut self) {
        self.rest = self.rest.trim_start();
    }

    fn unexpected(&self) -> String {
        match self.rest.chars().next() {
            Some(character) => format!("{character:?} is not expected in the data"),
            None => "data ends too early".to_owned(),
        }
    }
}

fn number_or_text(word: &str) -> Snbt {
    let plain = word.strip_suffix(['b', 'B', 's', 'S', 'l', 'L', 'f', 'F', 'd', 'D']).unwrap_or(word);
    match (word, plain.parse::<f64>()) {
        ("true", _) => Snbt::Number(1.0),
        ("false", _) => Snbt::Number(0.0),
        (_, Ok(number)) if number.is_finite() => Snbt::Number(number),
        _ => Snbt::Text(word.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_is_read_with_what_follows() {
        let (data, rest) =
            Snbt::read(r#"{Items:[{Slot:0b,id:"minecraft:bread",Count:3b}, {}],Lock:'a\'b'} 5"#).unwrap();
        assert_eq!(rest, " 5");
        let item = &data.get("Items").unwrap().list()[0];
        assert_eq!(item.get("Count").unwrap().number(), Some(3.0));
        assert_eq!(item.get("id").unwrap().text(), Some("minecraft:bread"));
        assert_eq!(data.get("Lock").unwrap().text(), Some("a'b"));
    }

    #[test]
    fn data_that_is_wrong_or_too_deep_is_refused() {
        for text in ["", "{", "{a}", "{a:}", "{a:1", "[1 2]", "\"a", "{:1}", "}", &"[".repeat(9999)] {
            assert!(Snbt::read(text).is_err(), "{text}");
        }
        assert!(Snbt::read(&format!("[{}]", "1,".repeat(5000))).unwrap_err().contains("at most 2000 parts"));
    }
}
