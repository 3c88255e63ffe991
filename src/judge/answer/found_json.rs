//! The JSON objects in a text.

use serde_json::{Map, Value};

/// How many braces are tried. Each attempt reads at most the text once.
const MAX_ATTEMPTS: usize = 200;
/// How deep an object may be within others.
const MAX_DEPTH: usize = 4;

/// The last object in a text for which `read` has a result; of objects inside each other the outermost.
pub(super) fn find_last<T>(text: &str, read: &impl Fn(&Map<String, Value>) -> Option<T>) -> Option<T> {
    let mut last = None;
    let mut at = 0;
    let mut attempts = 0;
    while let Some(open) = text[at..].find('{').map(|found| at + found) {
        at = open + 1;
        if !matches!(text[at..].trim_start().as_bytes().first(), Some(b'"')) {
            continue;
        }
        attempts += 1;
        if attempts > MAX_ATTEMPTS {
            break;
        }
        let mut values = serde_json::Deserializer::from_str(&text[open..]).into_iter::<Value>();
        if let Some(Ok(value)) = values.next() {
            at = open + values.byte_offset().max(1);
            last = find_in(&value, read, MAX_DEPTH).or(last);
        }
    }
    last
}

fn find_in<T>(value: &Value, read: &impl Fn(&Map<String, Value>) -> Option<T>, depth: usize) -> Option<T> {
    let inner: Box<dyn DoubleEndedIterator<Item = &Value>> = match value {
        Value::Object(object) => match read(object) {
            Some(found) => return Some(found),
            None => Box::new(object.values()),
        },
        Value::Array(items) => Box::new(items.iter()),
        _ => return None,
    };
    match depth {
        0 => None,
        _ => inner.rev().find_map(|value| find_in(value, read, depth - 1)),
    }
}
