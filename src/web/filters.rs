//! What templates can do to a value.

/// A count as people write it: 12,582,912.
#[askama::filter_fn]
pub fn count(number: impl std::fmt::Display, _: &dyn askama::Values) -> askama::Result<String> {
    Ok(grouped(&number.to_string()))
}

fn grouped(digits: &str) -> String {
    let first = digits.len() % 3;
    let (head, tail) = digits.split_at(first);
    let groups = tail.as_bytes().chunks(3).map(String::from_utf8_lossy);
    let all: Vec<_> = (!head.is_empty()).then(|| head.into()).into_iter().chain(groups).collect();
    all.join(",")
}

#[cfg(test)]
mod tests {
    #[test]
    fn digits_are_grouped_by_three() {
        for (number, text) in
            [(0, "0"), (80, "80"), (100, "100"), (24_576, "24,576"), (12_582_912, "12,582,912")]
        {
            assert_eq!(super::grouped(&number.to_string()), text);
        }
    }
}
