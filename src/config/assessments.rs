//! Who may have agents assessed, and how much time agents have.

use std::ffi::OsString;
use std::time::Duration;

use super::env::EnvReader;
use crate::assess::run::RunTimes;

/// Who may order assessments, besides admins and the owners of agents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AssessAccess {
    /// Whoever sits at this machine, of agents at this machine.
    ThisMachine,
    Nobody,
    /// Of agents anywhere, in private networks too.
    Everybody,
}

pub struct AssessConfig {
    pub access: AssessAccess,
    pub times: RunTimes,
}

impl<L: Fn(&str) -> Option<OsString>> EnvReader<L> {
    pub(super) fn assess(&mut self) -> AssessConfig {
        let access = [
            ("local", AssessAccess::ThisMachine),
            ("tokens", AssessAccess::Nobody),
            ("open", AssessAccess::Everybody),
        ];
        let minutes = |minutes: u64| Duration::from_secs(60 * minutes);
        AssessConfig {
            access: self.choice("ASSESS", "local, tokens or open", access),
            times: RunTimes {
                answer: Duration::from_secs(self.number("ASSESS_ANSWER_SECONDS", 60, 1..=3600)),
                short_run: minutes(self.number("ASSESS_SHORT_MINUTES", 30, 1..=1440)),
                long_run: minutes(self.number("ASSESS_LONG_MINUTES", 360, 1..=10_080)),
            },
        }
    }
}
