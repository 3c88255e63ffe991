//! Thoughts in the text of an answer, where an endpoint does not keep them apart: `<think>…</think>`.
//!
//! Some models write only the closing tag, since their chat template has written the opening one.

const TAGS: [&str; 4] = ["think>", "thinking>", "reasoning>", "thought>"];

/// Where the last thought of an answer ends, if the answer contains one that is closed.
pub(super) fn end_of_thoughts(answer: &str) -> Option<usize> {
    let closing = answer.rmatch_indices("</");
    closing.filter_map(|(at, _)| Some(at + 2 + tag_length(&answer[at + 2..])?)).next()
}

/// Whether an answer, of which the thoughts that are closed have been removed, breaks off in the middle of a thought.
pub(super) fn is_thinking(answer: &str) -> bool {
    answer.match_indices('<').any(|(at, _)| tag_length(&answer[at + 1..]).is_some())
}

fn tag_length(text: &str) -> Option<usize> {
    let is_tag = |tag: &&str| text.get(..tag.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(tag));
    TAGS.into_iter().find(is_tag).map(str::len)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thoughts_end_at_the_last_closing_tag() {
        for (answer, rest) in [
            ("<think>a</think>b", Some("b")),
            ("a</THINK>b</Thinking> c", Some(" c")),
            ("<reasoning>a</reasoning>", Some("")),
            ("ß</thought>ß", Some("ß")),
            ("a", None),
            ("<think>a", None),
            ("a</thin", None),
            ("a</p>b", None),
            ("</ß", None),
        ] {
            assert_eq!(end_of_thoughts(answer).map(|at| &answer[at..]), rest, "{answer}");
        }
        assert!(is_thinking("a <think>b") && !is_thinking("a < b, </think>, <thinker>"));
    }
}
