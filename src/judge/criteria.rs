//! The six criteria, and files that say what they mean for one kind of thing that is judged.
//!
//! A criteria file is Markdown with one heading of the second level for each criterion, by its title, in any order:
//!
//! ```text
//! # Building a ladder
//!
//! ## Task Progress
//!
//! What earns 0, 2, 4, 6, 8 and 10 points.
//!
//! ## Action Control
//!
//! Not applicable
//! ```
//!
//! The heading of the first level is optional. Anything else is an error with its line, so that a slip in a file cannot
//! quietly change what a judge is told.

use std::collections::HashMap;
use std::fmt;
use std::str::FromStr;
use std::sync::LazyLock;

use rust_embed::Embed;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use voxel::codec::Digest;

/// The longest criteria file.
pub const MAX_CRITERIA_BYTES: usize = 32 << 10;

/// Stands under a criterion that does not apply.
const NOT_APPLICABLE: &str = "not applicable";

/// `<category>/<task>.md`, and `build.md`
#[derive(Embed)]
#[folder = "criteria/"]
struct CriteriaFiles;

/// What a judge scores, from 0 to 10.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Criterion {
    TaskProgress,
    MaterialUsage,
    ActionControl,
    Efficiency,
    ErrorRecognition,
    CreativeAttempts,
}

/// Some of the six criteria.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CriterionSet([bool; 6]);

/// What each criterion means for one kind of thing that is judged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CriteriaText {
    /// None for what does not apply.
    texts: [Option<String>; 6],
}

/// What is wrong with a criteria file, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {message}")]
pub struct CriteriaError {
    pub line: usize,
    pub message: String,
}

impl Criterion {
    pub const ALL: [Self; 6] = [
        Self::TaskProgress,
        Self::MaterialUsage,
        Self::ActionControl,
        Self::Efficiency,
        Self::ErrorRecognition,
        Self::CreativeAttempts,
    ];

    pub fn key(self) -> &'static str {
        match self {
            Self::TaskProgress => "task_progress",
            Self::MaterialUsage => "material_usage",
            Self::ActionControl => "action_control",
            Self::Efficiency => "efficiency",
            Self::ErrorRecognition => "error_recognition",
            Self::CreativeAttempts => "creative_attempts",
        }
    }

    pub fn title(self) -> &'static str {
        match self {
            Self::TaskProgress => "Task Progress",
            Self::MaterialUsage => "Material Selection and Usage",
            Self::ActionControl => "Action Control",
            Self::Efficiency => "Task Completion Efficiency",
            Self::ErrorRecognition => "Error Recognition and Correction",
            Self::CreativeAttempts => "Creative Attempts",
        }
    }

    /// In percent, if all six apply.
    pub fn weight(self) -> f64 {
        match self {
            Self::TaskProgress => 40.0,
            Self::MaterialUsage | Self::ActionControl | Self::Efficiency => 15.0,
            Self::ErrorRecognition => 10.0,
            Self::CreativeAttempts => 5.0,
        }
    }

    /// The place in [`Self::ALL`].
    pub(super) fn index(self) -> usize {
        self as usize
    }
}

impl fmt::Display for Criterion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.key())
    }
}

impl FromStr for Criterion {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL
            .into_iter()
            .find(|criterion| criterion.key() == text)
            .ok_or_else(|| format!("{text:?} is not a criterion"))
    }
}

impl CriterionSet {
    pub const ALL: Self = Self([true; 6]);

    pub fn contains(self, criterion: Criterion) -> bool {
        self.0[criterion.index()]
    }

    pub fn iter(self) -> impl Iterator<Item = Criterion> {
        Criterion::ALL.into_iter().filter(move |criterion| self.contains(*criterion))
    }

    pub fn is_empty(self) -> bool {
        self == Self::default()
    }
}

impl FromIterator<Criterion> for CriterionSet {
    fn from_iter<I: IntoIterator<Item = Criterion>>(criteria: I) -> Self {
        let mut set = Self::default();
        for criterion in criteria {
            set.0[criterion.index()] = true;
        }
        set
    }
}

impl CriteriaText {
    /// The criteria for a build from a prompt.
    #[expect(clippy::expect_used, reason = "the file is embedded, and a test reads it")]
    pub fn build() -> &'static Self {
        static BUILD: LazyLock<CriteriaText> = LazyLock::new(|| {
            include_str!("../../criteria/build.md").parse().expect("the criteria for builds are well-formed")
        });
        &BUILD
    }

    /// The criteria for runs of a task. None if the task is unknown.
    #[expect(clippy::expect_used, reason = "the files are embedded, and a test reads them")]
    pub fn of_task(category: &str, task: &str) -> Option<&'static Self> {
        static TASKS: LazyLock<HashMap<String, CriteriaText>> = LazyLock::new(|| {
            let of_tasks = CriteriaFiles::iter().filter(|path| path.contains('/'));
            let read = |path: &str| read_file(path).and_then(|file| file.parse().ok());
            of_tasks
                .map(|path| (path.to_string(), read(&path).expect("the criteria for tasks are well-formed")))
                .collect()
        });
        TASKS.get(&format!("{category}/{task}.md"))
    }

    /// What the criterion means here. None if it does not apply.
    pub fn text(&self, criterion: Criterion) -> Option<&str> {
        self.texts[criterion.index()].as_deref()
    }

    pub fn applies(&self, criterion: Criterion) -> bool {
        self.text(criterion).is_some()
    }

    pub fn applicable(&self) -> CriterionSet {
        Criterion::ALL.into_iter().filter(|criterion| self.applies(*criterion)).collect()
    }

    /// Depends on what the criteria say, and not on their order in the file, its title or its line ends.
    pub fn digest(&self) -> Digest {
        let sections = Criterion::ALL.map(|criterion| {
            let text = self.text(criterion).unwrap_or(NOT_APPLICABLE);
            format!("## {}\n{text}\n", criterion.title())
        });
        Digest::of(sections.concat().as_bytes())
    }
}

impl FromStr for CriteriaText {
    type Err = CriteriaError;

    fn from_str(file: &str) -> Result<Self, CriteriaError> {
        if file.len() > MAX_CRITERIA_BYTES {
            return Err(error(1, format!("the file is longer than {MAX_CRITERIA_BYTES} bytes")));
        }
        let mut sections: [Option<CriterionSection>; 6] = Default::default();
        let mut current: Option<Criterion> = None;
        let mut has_title = false;
        for (number, line) in (1..).zip(file.lines().map(str::trim_end)) {
            if let Some(title) = line.strip_prefix("## ") {
                let criterion = find_title(title.trim()).ok_or_else(|| error(number, unknown(title)))?;
                let earlier = sections[criterion.index()].replace(CriterionSection::new(number));
                if let Some(earlier) = earlier {
                    return Err(error(
                        number,
                        format!("{} stands already at line {}", criterion.title(), earlier.line),
                    ));
                }
                current = Some(criterion);
            } else if line == "#" || line.starts_with("# ") {
                if has_title || current.is_some() {
                    return Err(error(number, "only the first line can be a heading of the first level"));
                }
                has_title = true;
            } else if let Some(section) = current.and_then(|criterion| sections[criterion.index()].as_mut()) {
                section.text.push_str(line);
                section.text.push('\n');
            } else if !line.is_empty() {
                return Err(error(number, "text before the first criterion"));
            }
        }
        Self::of_sections(sections, file.lines().count().max(1))
    }
}

impl CriteriaText {
    fn of_sections(sections: [Option<CriterionSection>; 6], last_line: usize) -> Result<Self, CriteriaError> {
        let mut texts: [Option<String>; 6] = Default::default();
        for (criterion, section) in Criterion::ALL.into_iter().zip(sections) {
            let title = criterion.title();
            let section =
                section.ok_or_else(|| error(last_line, format!("the heading \"## {title}\" is missing")))?;
            let text = section.text.trim();
            if text.is_empty() {
                return Err(error(
                    section.line,
                    format!("nothing stands under {title}; write \"Not applicable\" if it does not apply"),
                ));
            }
            let applies = !text.trim_end_matches('.').eq_ignore_ascii_case(NOT_APPLICABLE);
            texts[criterion.index()] = applies.then(|| text.to_owned());
        }
        match texts.iter().any(Option::is_some) {
            true => Ok(Self { texts }),
            false => Err(error(last_line, "none of the six criteria applies")),
        }
    }
}

fn read_file(path: &str) -> Option<String> {
    String::from_utf8(CriteriaFiles::get(path)?.data.into_owned()).ok()
}

struct CriterionSection {
    line: usize,
    text: String,
}

impl CriterionSection {
    fn new(line: usize) -> Self {
        Self { line, text: String::new() }
    }
}

fn find_title(title: &str) -> Option<Criterion> {
    Criterion::ALL.into_iter().find(|criterion| criterion.title() == title)
}

fn unknown(title: &str) -> String {
    let titles = Criterion::ALL.map(Criterion::title).join(", ");
    format!("{:?} is not one of {titles}", title.trim())
}

fn error(line: usize, message: impl Into<String>) -> CriteriaError {
    CriteriaError { line, message: message.into() }
}

#[cfg(test)]
mod tests {
    use world::task::{catalogue, find_task};

    use super::*;

    fn file_with(text_of: impl Fn(Criterion) -> &'static str) -> String {
        Criterion::ALL
            .map(|criterion| format!("## {}\n\n{}\n\n", criterion.title(), text_of(criterion)))
            .concat()
    }

    #[test]
    fn weights_are_percentages_of_all_six() {
        assert_eq!(Criterion::ALL.map(Criterion::weight).iter().sum::<f64>(), 100.0);
    }

    #[test]
    fn a_criterion_is_its_key_in_json() {
        for criterion in Criterion::ALL {
            assert_eq!(serde_json::to_string(&criterion).unwrap(), format!("{:?}", criterion.key()));
            assert_eq!(criterion.key().parse(), Ok(criterion));
        }
    }

    #[test]
    fn builds_are_judged_by_four_criteria() {
        let criteria = CriteriaText::build();
        let not_applicable = [Criterion::ActionControl, Criterion::ErrorRecognition];
        for criterion in Criterion::ALL {
            assert_eq!(criteria.applies(criterion), !not_applicable.contains(&criterion), "{criterion}");
            for anchor in ["- 0:", "- 2:", "- 4:", "- 6:", "- 8:", "- 10:"] {
                assert!(
                    criteria.text(criterion).is_none_or(|text| text.contains(anchor)),
                    "{criterion} {anchor}"
                );
            }
        }
    }

    #[test]
    fn every_task_that_can_be_run_has_criteria() {
        for path in CriteriaFiles::iter() {
            let parsed = read_file(&path).unwrap().parse::<CriteriaText>();
            parsed.unwrap_or_else(|error| panic!("criteria/{path}, {error}"));
        }
        let tasks =
            catalogue().iter().filter_map(|facts| find_task(&format!("{}/{}", facts.category, facts.name)));
        let mut runnable = 0;
        for task in tasks {
            let name = format!("{}/{}", task.category(), task.name());
            let criteria = CriteriaText::of_task(task.category(), task.name());
            let criteria = criteria.unwrap_or_else(|| panic!("criteria/{name}.md is missing"));
            assert!(criteria.applies(Criterion::TaskProgress), "{name}");
            runnable += 1;
        }
        assert!(runnable > 0);
        assert_eq!(CriteriaText::of_task("crafting", "craft_moon"), None);
    }

    #[test]
    fn the_digest_depends_on_the_meaning_alone() {
        let plain = file_with(Criterion::key);
        let digest = |file: &str| file.parse::<CriteriaText>().unwrap().digest();
        let sections: Vec<&str> = plain.split_inclusive("\n\n").collect();
        let reversed: String = sections.chunks(2).rev().flatten().copied().collect();
        for same in [format!("# A title\n\n{plain}"), plain.replace('\n', "\r\n"), reversed] {
            assert_eq!(digest(&same), digest(&plain), "{same}");
        }
        assert_ne!(digest(&plain.replace("efficiency", "speed")), digest(&plain));
        assert_ne!(digest(&plain.replace("\nefficiency\n", "\nNot applicable.\n")), digest(&plain));
    }

    #[test]
    fn mistakes_in_a_file_are_named_with_their_line() {
        let good = file_with(|_| "Text.");
        for (file, line, message) in [
            (String::new(), 1, "\"## Task Progress\" is missing"),
            (format!("Hello\n{good}"), 1, "text before the first criterion"),
            (format!("{good}# Late\n"), 25, "first level"),
            (format!("# One\n# Two\n{good}"), 2, "first level"),
            (good.replace("## Action Control", "## Action"), 9, "\"Action\" is not one of Task Progress,"),
            (format!("{good}## Efficiency\n"), 25, "\"Efficiency\" is not one of"),
            (format!("{good}## Task Progress\nAgain.\n"), 25, "stands already at line 1"),
            (good.replacen("Text.", "", 1), 1, "nothing stands under Task Progress"),
            (good.replace("Text.", "Not applicable"), 24, "none of the six"),
            ("x".repeat(MAX_CRITERIA_BYTES + 1), 1, "longer than"),
        ] {
            let error = file.parse::<CriteriaText>().unwrap_err();
            assert_eq!(error.line, line, "{error}");
            assert!(error.message.contains(message), "{error}");
        }
    }

    #[test]
    fn smaller_headings_belong_to_the_text() {
        let file = file_with(|_| "### Anchors\n- 0: nothing").replace("\n- 0", "\r\n- 0");
        let criteria: CriteriaText = file.parse().unwrap();
        assert_eq!(criteria.text(Criterion::Efficiency), Some("### Anchors\n- 0: nothing"));
        assert_eq!(criteria.applicable(), CriterionSet::ALL);
    }
}
