//! Removes the comments of scripts before they are sent.
//!
//! Types and reasons take a fifth of the viewer's scripts, and only readers of the source need them. Everything else
//! stays as it is: strings, template strings (the shaders) and indentation. Each line keeps its number, so that stack
//! traces point into the source.

/// After these words a slash begins a regular expression; after other words it divides.
const BEFORE_REGEX: &str = "return typeof case in of await yield else do void throw new delete instanceof";

/// The script with every comment removed, its lines where they were.
pub(super) fn strip_comments(script: &str) -> String {
    let mut output = String::with_capacity(script.len());
    // The template strings around the current place; for each, how many braces are open in its `${…}`.
    let mut templates: Vec<usize> = Vec::new();
    let mut rest = script;
    while let Some(letter) = rest.chars().next() {
        if rest.starts_with("//") || rest.starts_with("/*") {
            let (comment, after) = rest.split_at(comment_length(rest));
            remove(comment, after, &mut output);
            rest = after;
            continue;
        }
        let mut length = letter.len_utf8();
        match letter {
            '"' | '\'' => length = quoted_length(rest, letter),
            '/' if regex_may_start(&output) => length = regex_length(rest).unwrap_or(length),
            '`' => length += template_length(&rest[1..], &mut templates),
            '{' => {
                if let Some(open) = templates.last_mut() {
                    *open += 1;
                }
            }
            '}' => match templates.last_mut() {
                Some(0) => {
                    templates.pop();
                    length += template_length(&rest[1..], &mut templates);
                }
                Some(open) => *open -= 1,
                None => {}
            },
            _ => {}
        }
        let (kept, after) = rest.split_at(length);
        output.push_str(kept);
        rest = after;
    }
    output
}

/// Leaves the line breaks of a comment, and a space where tokens would run together.
fn remove(comment: &str, after: &str, output: &mut String) {
    let breaks = comment.matches('\n').count();
    if breaks > 0 || after.is_empty() || after.starts_with('\n') {
        output.truncate(output.trim_end_matches([' ', '\t']).len());
    } else if !output.ends_with(char::is_whitespace) && !after.starts_with(char::is_whitespace) {
        output.push(' ');
    }
    output.extend(std::iter::repeat_n('\n', breaks));
}

fn comment_length(rest: &str) -> usize {
    if rest.starts_with("//") {
        rest.find('\n').unwrap_or(rest.len())
    } else {
        rest[2..].find("*/").map_or(rest.len(), |at| at + 4)
    }
}

/// A string with both of its quotes. It ends with its line at the latest, so that a misread quote harms only one.
fn quoted_length(rest: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, letter) in rest.char_indices().skip(1) {
        if !escaped && letter == quote {
            return at + 1;
        }
        if !escaped && letter == '\n' {
            return at;
        }
        escaped = !escaped && letter == '\\';
    }
    rest.len()
}

/// The text of a template string up to its end, or up to and with the next `${`, which is noted in `templates`.
fn template_length(rest: &str, templates: &mut Vec<usize>) -> usize {
    let mut escaped = false;
    for (at, letter) in rest.char_indices() {
        if !escaped && letter == '`' {
            return at + 1;
        }
        if !escaped && rest[at..].starts_with("${") {
            templates.push(0);
            return at + 2;
        }
        escaped = !escaped && letter == '\\';
    }
    rest.len()
}

/// A regular expression up to its last slash; none where the line ends before, since then the slash divides.
fn regex_length(rest: &str) -> Option<usize> {
    let (mut escaped, mut in_class) = (false, false);
    for (at, letter) in rest.char_indices().skip(1) {
        match letter {
            '\n' => return None,
            _ if escaped => {}
            '[' => in_class = true,
            ']' => in_class = false,
            '/' if !in_class => return Some(at + 1),
            _ => {}
        }
        escaped = !escaped && letter == '\\';
    }
    None
}

/// Whether a slash after this code begins a regular expression: after a value it divides.
fn regex_may_start(before: &str) -> bool {
    let before = before.trim_end();
    let is_word = |letter: char| letter.is_alphanumeric() || "_$#".contains(letter);
    let word = before.rsplit(|letter| !is_word(letter)).next().unwrap_or_default();
    if word.is_empty() {
        !before.ends_with([')', ']', '"', '\'', '`'])
    } else {
        BEFORE_REGEX.split(' ').any(|known| known == word)
    }
}

#[cfg(test)]
mod tests {
    use super::strip_comments;

    #[test]
    fn comments_go_and_each_line_keeps_its_number() {
        let script = "/** What it does. */\nlet a = 1; // one\n  // alone\n/**\n * @type {B}\n */\nlet b;\n";
        assert_eq!(strip_comments(script), "\nlet a = 1;\n\n\n\n\nlet b;\n");
    }

    #[test]
    fn indentation_and_empty_lines_stay() {
        let script = "if (a) {\n\n    b();  \n\tc();\n}";
        assert_eq!(strip_comments(script), script);
        assert_eq!(strip_comments("  /** @type {A} */ a();"), "   a();");
    }

    #[test]
    fn tokens_do_not_run_together() {
        assert_eq!(strip_comments("return/* it */a"), "return a");
        assert_eq!(strip_comments("a = /* one */ 1;"), "a =  1;");
    }

    #[test]
    fn strings_stay_whole() {
        for script in [
            r#"fetch("https://host/*path*/");"#,
            r"say('it\'s // here');",
            r#"say("\\"); say("// not a comment");"#,
        ] {
            assert_eq!(strip_comments(script), script);
        }
    }

    #[test]
    fn template_strings_stay_whole() {
        for script in [
            "const SHADER = `\n  // In GLSL.\n\n    void main() {} /* stays */\n`;",
            "`\\` // ${a ? `/* ${b} */` : { c: `//` }.c} // \\${ /* text */`",
        ] {
            assert_eq!(strip_comments(script), script);
        }
    }

    #[test]
    fn comments_within_a_template_strings_expressions_go() {
        assert_eq!(strip_comments("`// ${/* it */ a} //` // b"), "`// ${ a} //`");
        assert_eq!(strip_comments("`${{ a /* b */ }}` /* c */;"), "`${{ a  }}` ;");
    }

    #[test]
    fn regular_expressions_stay_whole() {
        for script in
            [r#"text.replace(/["'`]/g, "")"#, r"const path = /^https?:\/\/[/*]+$/;", "return /`/.test(a)"]
        {
            assert_eq!(strip_comments(script), script);
        }
        assert_eq!(strip_comments("a / b; // c / d"), "a / b;");
        assert_eq!(strip_comments("f(a) / 2 /* half */ + b[1] / 2"), "f(a) / 2  + b[1] / 2");
    }

    #[test]
    fn what_is_never_closed_ends_with_the_script() {
        for script in ["\"open", "`open ${", "/* open", "/open", "// open", "`${`", "'\\"] {
            assert!(strip_comments(script).len() <= script.len());
        }
    }
}
