//! What people say of builds by the criteria, and what models and people together have said of one.
//!
//! **A judging** is a build that one person is asked to judge. A person has one open at a time. It has an id of its own,
//! and nothing that the person can read before the judgement depends on who built the build. It is open for two hours,
//! until it is judged or skipped, or until another one replaces it.
//!
//! **A judgement** counts like a vote: it takes one of the day's votes of its voter and network, and beyond those it is
//! stored and answered alike and does not count. A build is judged once by a person and the present criteria. Builds
//! that are withheld or retired are not judged, and nothing shows what was said of a withheld one.

mod counting;
mod drawing;
mod reading;

pub use self::reading::{
    BuildJudgements, ModelJudgement, OwnJudgement, OwnJudgementCounts, PeopleJudgements, ScoreSpread,
};

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::time::Duration;

use time::OffsetDateTime;
use uuid::Uuid;

use super::{PromptId, Settings, Voter};
use crate::judge::criteria::Criterion;
use crate::judge::scores::Scores;

/// The longest note, in characters.
pub const MAX_NOTE: usize = 1000;

/// The longest evidence for one score, in characters.
pub const MAX_EVIDENCE: usize = 300;

/// A build that a person is asked to judge, as that person sees it. It contains nothing about who built it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judging {
    pub id: Uuid,
    pub prompt: PromptId,
    pub text: String,
    pub settings: Settings,
    pub expires_at: OffsetDateTime,
    /// The build, which is for the server alone.
    pub build: Uuid,
}

/// What a person says of a build.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PersonScores {
    pub scores: Scores,
    pub evidence: BTreeMap<Criterion, String>,
    pub note: Option<String>,
}

/// A judgement that was sent.
pub struct SentJudgement {
    pub voter: Voter,
    pub judging: Uuid,
    pub said: PersonScores,
    pub address: IpAddr,
}

#[derive(Debug, thiserror::Error)]
pub enum JudgingError {
    #[error("this build does not exist")]
    NoBuild,
    #[error("this build was retired")]
    Retired,
    #[error("this voter has judged or skipped every build")]
    AllJudged,
    #[error("this judging does not exist")]
    Unknown,
    #[error("this judging is over")]
    Over,
    #[error("look at the build before judging it")]
    TooSoon(Duration),
    #[error("this build is in the voter's open matchup, and a judgement tells who built it")]
    InMatchup,
    /// With the build, which its voter may know by now.
    #[error("this voter has judged this build")]
    AlreadyJudged(Uuid),
    #[error("none of the criteria has a score")]
    NoScores,
    #[error("this voter sent several requests at the same time")]
    Conflict,
    #[error(transparent)]
    Database(#[from] sqlx::Error),
}
