//! What is wrong with a task file, with the lines.

use std::fmt;

use serde::Serialize;
use serde_saphyr::Spanned;

/// Something that is wrong with a task file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TaskProblem {
    pub line: Option<u64>,
    pub words: String,
}

/// Everything that is wrong with a task file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct TaskError {
    pub problems: Vec<TaskProblem>,
}

impl TaskProblem {
    pub(super) fn at<T>(spanned: &Spanned<T>, words: String) -> Self {
        Self { line: Some(spanned.referenced.line()).filter(|line| *line > 0), words }
    }
}

impl TaskError {
    pub(super) fn of(line: Option<u64>, words: String) -> Self {
        Self { problems: vec![TaskProblem { line, words }] }
    }
}

impl fmt::Display for TaskProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "line {line}: {}", self.words),
            None => f.write_str(&self.words),
        }
    }
}

impl fmt::Display for TaskError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, problem) in self.problems.iter().enumerate() {
            write!(f, "{}{problem}", if place > 0 { "; " } else { "" })?;
        }
        Ok(())
    }
}
