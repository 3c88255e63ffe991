//! The links between the pages of a list.

/// A link to a page of a list.
pub(super) struct PageLink {
    pub number: i64,
    pub address: String,
    pub current: bool,
}

/// How many pages a list has; an empty one has none.
pub(super) fn page_count(total: i64, page_size: i64) -> i64 {
    (total + page_size - 1) / page_size
}

/// Links to the pages around the current one, and to the first and the last.
pub(super) fn page_links(current: i64, count: i64, address: impl Fn(i64) -> String) -> Vec<PageLink> {
    let is_shown = |number: &i64| *number == 1 || *number == count || (*number - current).abs() <= 2;
    let link = |number| PageLink { number, address: address(number), current: number == current };
    (1..=count).filter(is_shown).map(link).collect()
}
