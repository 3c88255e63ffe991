//! Server-sent events, read within bounds.

use std::collections::VecDeque;
use std::mem;
use std::time::Duration;

use reqwest::Response;
use serde::de::DeserializeOwned;

use super::super::{GenerateError, GenerateErrorKind, Result};
use super::body::next_chunk;
use super::received::ReceivedAnswer;

/// The data of an event. Its other fields do not matter here.
#[derive(Debug, PartialEq, Eq)]
pub(in super::super) struct SseEvent {
    pub data: String,
}

impl SseEvent {
    pub fn json<T: DeserializeOwned>(&self) -> Result<T> {
        serde_json::from_str(&self.data).map_err(|error| {
            let message = format!("the stream contains an event that is not as documented: {error}");
            GenerateError::new(GenerateErrorKind::BadAnswer, message)
        })
    }
}

pub(in super::super) struct SseStream {
    response: Response,
    idle: Duration,
    parser: SseParser,
    ready: VecDeque<SseEvent>,
    /// How the stream ended. Returned after the events that are ready.
    end: Option<Result<()>>,
}

impl SseStream {
    /// `begin` has been read already.
    pub fn new(response: Response, begin: &[u8], idle: Duration, max_event_bytes: usize) -> Self {
        let (parser, ready) = (SseParser::new(max_event_bytes), VecDeque::new());
        let mut stream = Self { response, idle, parser, ready, end: None };
        stream.push(begin);
        stream
    }

    fn push(&mut self, bytes: &[u8]) {
        self.end = self.parser.push(bytes, &mut self.ready).err().map(Err);
    }

    /// The next event, or none after the provider has closed the stream.
    pub async fn next(&mut self, received: &mut ReceivedAnswer<'_>) -> Result<Option<SseEvent>> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Ok(Some(event));
            }
            if let Some(end) = self.end.take() {
                return end.map(|()| None);
            }
            match next_chunk(&mut self.response, self.idle, received).await? {
                Some(bytes) => self.push(&bytes),
                None => self.end = Some(self.parser.finish(&mut self.ready)),
            }
        }
    }
}

/// Whether a body begins like a stream of events.
pub(super) fn begins_stream(body: &[u8]) -> bool {
    const FIELDS: [&[u8]; 5] = [b"data:", b"event:", b"id:", b"retry:", b":"];
    let body = body.strip_prefix("\u{feff}".as_bytes()).unwrap_or(body).trim_ascii_start();
    FIELDS.iter().any(|field| body.starts_with(field))
}

/// Turns bytes into events, wherever the bytes were cut.
#[derive(Default)]
struct SseParser {
    line: Vec<u8>,
    data: Vec<u8>,
    has_data: bool,
    /// The last byte was a carriage return, so a newline that follows belongs to it.
    after_return: bool,
    /// Whether a line was read. Before the first one, there may be a byte order mark.
    has_begun: bool,
    max_event_bytes: usize,
}

impl SseParser {
    fn new(max_event_bytes: usize) -> Self {
        Self { max_event_bytes, ..Self::default() }
    }

    fn push(&mut self, mut bytes: &[u8], events: &mut VecDeque<SseEvent>) -> Result<()> {
        if mem::take(&mut self.after_return) {
            bytes = bytes.strip_prefix(b"\n").unwrap_or(bytes);
        }
        while let Some(end) = bytes.iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
            self.extend(&bytes[..end])?;
            let is_return = bytes[end] == b'\r';
            bytes = &bytes[end + 1..];
            self.after_return = is_return && bytes.is_empty();
            if is_return {
                bytes = bytes.strip_prefix(b"\n").unwrap_or(bytes);
            }
            self.line(events)?;
        }
        self.extend(bytes)
    }

    /// A last event counts even without the empty line that should end it.
    fn finish(&mut self, events: &mut VecDeque<SseEvent>) -> Result<()> {
        self.line(events)?;
        self.dispatch(events)
    }

    fn extend(&mut self, bytes: &[u8]) -> Result<()> {
        if self.line.len() + self.data.len() + bytes.len() > self.max_event_bytes {
            let message = format!("the stream contains an event of more than {} bytes", self.max_event_bytes);
            return Err(GenerateError::new(GenerateErrorKind::TooLarge, message));
        }
        self.line.extend_from_slice(bytes);
        Ok(())
    }

    fn line(&mut self, events: &mut VecDeque<SseEvent>) -> Result<()> {
        let line = mem::take(&mut self.line);
        let mut text = line.as_slice();
        if !mem::replace(&mut self.has_begun, true) {
            text = text.strip_prefix("\u{feff}".as_bytes()).unwrap_or(text);
        }
        if text.is_empty() {
            self.dispatch(events)?;
        } else if let Some(data) = text.strip_prefix(b"data") {
            let value = data.strip_prefix(b": ").or_else(|| data.strip_prefix(b":"));
            // `database:` is another field, and `data` without a colon is an empty line of data.
            if let Some(value) = value.or(data.is_empty().then_some(data)) {
                let start = line.len() - value.len();
                self.add(line, start);
            }
        }
        Ok(())
    }

    /// Adds the rest of a line to the event. The first line is moved rather than copied, as it may be large.
    fn add(&mut self, mut line: Vec<u8>, start: usize) {
        if mem::replace(&mut self.has_data, true) {
            self.data.push(b'\n');
            self.data.extend_from_slice(&line[start..]);
        } else {
            line.drain(..start);
            self.data = line;
        }
    }

    fn dispatch(&mut self, events: &mut VecDeque<SseEvent>) -> Result<()> {
        let data = mem::take(&mut self.data);
        if mem::take(&mut self.has_data) {
            let data = String::from_utf8(data).map_err(|_| {
                GenerateError::new(GenerateErrorKind::BadAnswer, "the stream is not valid UTF-8")
            })?;
            events.push_back(SseEvent { data });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(pieces: &[&[u8]]) -> Result<Vec<String>> {
        let mut parser = SseParser::new(64);
        let mut events = VecDeque::new();
        for piece in pieces {
            parser.push(piece, &mut events)?;
        }
        parser.finish(&mut events)?;
        Ok(events.into_iter().map(|event| event.data).collect())
    }

    #[test]
    fn events_are_read_as_the_standard_says() {
        for (stream, expected) in [
            ("data: a\n\ndata: b\n\n", vec!["a", "b"]),
            ("data: a\r\n\r\ndata: b\r\rdata: c\n\n", vec!["a", "b", "c"]),
            ("\u{feff}data: a\n\n", vec!["a"]),
            (": a comment\n\nevent: ping\nid: 7\nretry: 10\ndata:a\n\n", vec!["a"]),
            ("data: one\ndata: two\n\n", vec!["one\ntwo"]),
            ("data:  indented\ndata\n\n", vec![" indented\n"]),
            ("database: no\n\nevent: empty\n\n", vec![]),
            ("data: nobody closed this", vec!["nobody closed this"]),
        ] {
            assert_eq!(read(&[stream.as_bytes()]).unwrap(), expected, "{stream:?}");
        }
    }

    #[test]
    fn an_event_has_a_largest_size_however_it_is_spread() {
        let line = format!("data: {}\n", "x".repeat(20));
        for stream in [format!("data: {}", "x".repeat(100)), line.repeat(5), format!(":{}", "x".repeat(100))]
        {
            assert_eq!(read(&[stream.as_bytes()]).unwrap_err().kind, GenerateErrorKind::TooLarge);
        }
        assert_eq!(read(&[format!("{line}\n").repeat(9).as_bytes()]).unwrap().len(), 9);
    }

    #[test]
    fn what_is_not_utf_8_is_told() {
        assert_eq!(read(&[b"data: \xff\n\n"]).unwrap_err().kind, GenerateErrorKind::BadAnswer);
    }

    proptest! {
        #[test]
        fn it_does_not_matter_where_the_bytes_are_cut(
            stream in "(data: ?[a-zß🏰]{0,5}|:x|event: y|)(\r\n|\n|\r){1,2}",
            again in "(data: ?[a-zß🏰]{0,5}|)(\r\n|\n|\r){1,2}",
            at in any::<prop::sample::Index>(),
        ) {
            let stream = stream + &again;
            let (a, b) = stream.as_bytes().split_at(at.index(stream.len() + 1));
            prop_assert_eq!(read(&[a, b]).unwrap(), read(&[stream.as_bytes()]).unwrap());
        }
    }
}
