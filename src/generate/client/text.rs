//! Texts cut to what people and logs can take.

use std::borrow::Cow;
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

/// A run of base64 that is longer is taken for a piece of a file. No word or number of an answer is as long.
const MIN_BASE64: usize = 100;

/// A text without the files in it: a provider may send back the picture that it could not read.
pub(super) fn without_base64(text: &str) -> Cow<'_, str> {
    // JSON may write a slash with a backslash before it.
    let is_part = |c: char| c.is_ascii_alphanumeric() || "+/=-_\\".contains(c);
    let mut clean = String::new();
    let mut rest = text;
    let mut copied = 0;
    while !rest.is_empty() {
        let end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        let (run, after) = rest.split_at(end);
        let start = text.len() - rest.len();
        let has = |kind: fn(&u8) -> bool| run.as_bytes().iter().any(kind);
        let is_file = run.len() >= MIN_BASE64
            && has(u8::is_ascii_uppercase)
            && has(u8::is_ascii_lowercase)
            && has(u8::is_ascii_digit);
        if is_file {
            clean.push_str(&text[copied..start]);
            clean.push_str(&format!("[{} characters of a file]", run.len()));
            copied = start + end;
        }
        rest = &after[after.chars().next().map_or(0, char::len_utf8)..];
    }
    if copied == 0 {
        return text.into();
    }
    clean.push_str(&text[copied..]);
    clean.into()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_left_out_of_texts() {
        let file = "iVBORw0KGgo+/".repeat(40);
        for (text, clean) in [
            (
                format!("bad: data:image/png;base64,{file}"),
                "bad: data:image/png;base64,[520 characters of a file]",
            ),
            (
                format!("“{file}” and “{file}”."),
                "“[520 characters of a file]” and “[520 characters of a file]”.",
            ),
            (format!("{}é", file.replace('/', "\\/")), "[560 characters of a file]é"),
        ] {
            assert_eq!(without_base64(&text), clean);
        }
        let cells = "[[0,0,0,\"stone\"]]".repeat(99);
        for text in ["", "a sentence", "ü", &"x".repeat(900), &cells, &file[..99]] {
            assert_eq!(without_base64(text), text);
        }
    }
}
