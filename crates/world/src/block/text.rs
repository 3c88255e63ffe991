//! Blocks as text, as commands and files have them: `oak_door[half=lower,facing=north]`.

use std::fmt::{self, Display, Formatter};
use std::str::FromStr;

use super::WorldBlock;

/// Why a text is no block.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BlockTextError {
    #[error("there is no block {0:?}")]
    UnknownId(String),
    #[error("{text:?} is not written as id[property=value,…]")]
    Malformed { text: String },
    #[error("{id} has no property {name:?}")]
    UnknownProperty { id: &'static str, name: String },
    #[error("{id} cannot have {name}={value}; it can be {}", known.join(", "))]
    UnknownValue { id: &'static str, name: String, value: String, known: &'static [&'static str] },
}

impl WorldBlock {
    /// Reads an id, with or without `minecraft:`, and with as many properties as there are; the others are as usual.
    ///
    /// # Errors
    /// If there is no such block, or it has no such property or value.
    pub fn parse(text: &str) -> Result<Self, BlockTextError> {
        let shown = || text.chars().take(80).collect::<String>();
        let malformed = || BlockTextError::Malformed { text: shown() };
        let (id, properties) = match text.trim().split_once('[') {
            Some((id, rest)) => (id, rest.strip_suffix(']').ok_or_else(malformed)?),
            None => (text.trim(), ""),
        };
        let mut block = Self::of(id).ok_or_else(|| BlockTextError::UnknownId(shown()))?;
        let kind = block.kind();
        for pair in properties.split(',').filter(|pair| !pair.trim().is_empty()) {
            let (name, value) = pair.split_once('=').ok_or_else(malformed)?;
            let (name, value) = (name.trim(), value.trim());
            if let Some(property) = kind.properties.iter().find(|property| property.name() == name) {
                let known = property.values();
                if !known.contains(&value) {
                    let (name, value) = (name.to_owned(), value.to_owned());
                    return Err(BlockTextError::UnknownValue { id: kind.id, name, value, known });
                }
                block = block.with(name, value);
            } else if !kind.ignores.iter().any(|ignored| ignored == name) {
                return Err(BlockTextError::UnknownProperty { id: kind.id, name: name.to_owned() });
            }
        }
        Ok(block)
    }
}

impl FromStr for WorldBlock {
    type Err = BlockTextError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::parse(text)
    }
}

impl Display for WorldBlock {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.id())?;
        for (index, property) in self.kind().properties.iter().enumerate() {
            let value = self.property(property.name()).unwrap_or_default();
            let before = if index == 0 { '[' } else { ',' };
            write!(formatter, "{before}{}={value}", property.name())?;
        }
        if self.kind().properties.is_empty() { Ok(()) } else { formatter.write_str("]") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_state_is_read_as_it_is_written() {
        for block in WorldBlock::all() {
            let text = block.to_string();
            assert_eq!(WorldBlock::parse(&text), Ok(block), "{text}");
            assert_eq!(format!("minecraft:{text}").parse(), Ok(block), "{text}");
        }
    }

    #[test]
    fn what_no_block_has_is_refused_in_words() {
        for (text, words) in [
            ("diamond_hat", "there is no block \"diamond_hat\""),
            ("oak_door[half=lower", "is not written as id[property=value,…]"),
            ("oak_door[half]", "is not written as id[property=value,…]"),
            ("oak_door[colour=red]", "oak_door has no property \"colour\""),
            ("oak_door[half=top]", "oak_door cannot have half=top; it can be lower, upper"),
            ("stone[facing=north]", "stone has no property \"facing\""),
        ] {
            let error = WorldBlock::parse(text).unwrap_err().to_string();
            assert!(error.contains(words), "{text}: {error}");
        }
    }

    #[test]
    fn what_is_worked_out_from_around_is_read_over() {
        let fence = WorldBlock::of("oak_fence").unwrap();
        assert_eq!(WorldBlock::parse("oak_fence[east=true,waterlogged=false]"), Ok(fence));
    }
}
