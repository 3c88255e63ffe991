//! Messages as bytes.

use std::io::{self, ErrorKind, Read, Write};

use serde::Serialize;
use serde_json::json;

/// The most bytes of a body from a client.
pub const MAX_BODY: usize = 32 << 20;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Hello = 1,
    Make = 2,
    Reset = 3,
    Step = 4,
    Frames = 5,
    Save = 6,
    Load = 7,
    Close = 8,
    Error = 9,
    Recording = 10,
    Solutions = 11,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PipeMessage {
    /// A [`Kind`], or a number that no kind has.
    pub kind: u8,
    pub body: Vec<u8>,
}

impl PipeMessage {
    pub fn new(kind: Kind, body: Vec<u8>) -> Self {
        Self { kind: kind as u8, body }
    }

    pub fn json(kind: Kind, value: &impl Serialize) -> Self {
        Self::new(kind, serde_json::to_vec(value).unwrap_or_default())
    }

    pub fn error(words: &impl ToString) -> Self {
        Self::json(Kind::Error, &json!({ "error": words.to_string() }))
    }

    /// The next message; none once the stream has ended.
    ///
    /// # Errors
    /// If the stream ends within a message, or the message is too long.
    pub fn read(input: &mut impl Read) -> io::Result<Option<Self>> {
        let mut head = [0; 5];
        let first = loop {
            match input.read(&mut head) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                read => break read?,
            }
        };
        if first == 0 {
            return Ok(None);
        }
        input.read_exact(&mut head[first..])?;
        let [a, b, c, d, kind] = head;
        let length = u32::from_le_bytes([a, b, c, d]) as usize;
        if length > MAX_BODY {
            let words = format!("a message has at most {MAX_BODY} bytes, and this one has {length}");
            return Err(io::Error::new(ErrorKind::InvalidData, words));
        }
        // Memory grows with what has come, not with what was announced.
        let mut body = Vec::new();
        input.take(length as u64).read_to_end(&mut body)?;
        if body.len() < length {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        Ok(Some(Self { kind, body }))
    }

    /// # Errors
    /// If the stream fails.
    pub fn write(&self, output: &mut impl Write) -> io::Result<()> {
        let mut head = (self.body.len() as u32).to_le_bytes().to_vec();
        head.push(self.kind);
        output.write_all(&head)?;
        output.write_all(&self.body)?;
        output.flush()
    }
}
