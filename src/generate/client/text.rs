//! Texts cut to a length that people and logs can take.

use std::error::Error;

/// How many bytes of a long answer are logged, of its beginning and of its end each.
const MAX_LOGGED: usize = 8 << 10;

/// The beginning of a long text.
pub(super) fn clip(text: &str, bytes: usize) -> String {
    if text.len() <= bytes {
        return text.to_owned();
    }
    format!("{}…", &text[..text.floor_char_boundary(bytes)])
}

/// The beginning and the end of a long text.
pub(super) fn head_and_tail(text: &str) -> String {
    if text.len() <= 2 * MAX_LOGGED {
        return text.to_owned();
    }
    let (head, tail) =
        (text.floor_char_boundary(MAX_LOGGED), text.ceil_char_boundary(text.len() - MAX_LOGGED));
    format!("{}\n[…]\n{}", &text[..head], &text[tail..])
}

/// An error with its causes, and without the address, which may contain a key.
pub(super) fn error_chain(error: reqwest::Error) -> String {
    let error = error.without_url();
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        text = format!("{text}: {inner}");
        cause = inner.source();
    }
    clip(&text, 300)
}
