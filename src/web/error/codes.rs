//! Every code that an error can have. Handlers, error pages and the API's document take its status and its words
//! from here, so that they cannot differ.

use axum::http::{Method, StatusCode};
use voxel::RejectionCode;

/// What went wrong. The names in JSON are stable; programs rely on them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorCode {
    AdminOff,
    AllVoted,
    AlreadyVoted,
    BadChoice,
    BadFile,
    BadJson,
    BadRequest,
    BadSpec,
    BadToken,
    BodyCutOff,
    BodyStalled,
    BuildDamaged,
    Busy,
    CrossSite,
    DoesNotFit,
    Ended,
    EqualModels,
    Exists,
    FootprintTooSmall,
    Gone,
    HeightTooSmall,
    Internal,
    MatchupOver,
    MethodNotAllowed,
    NoBlocks,
    NoBuild,
    NoDraft,
    NoJob,
    NoKey,
    NoModel,
    NoPrompt,
    NoRun,
    NoSuchMatchup,
    NoSuchPrompt,
    NoToken,
    NotExported,
    NotFound,
    NotOneRun,
    NotReady,
    NotSeeded,
    NotYours,
    NothingToRead,
    RateLimited,
    Retired,
    TextIsFixed,
    TimedOut,
    TooFewBlocks,
    TooLarge,
    TooManyBlocks,
    TooManyCells,
    TooManyKept,
    TooManyRuns,
    TooMuchWork,
    TooSoon,
    TryAgain,
    UnderWay,
    UnknownModel,
    UnsupportedEncoding,
    UnsupportedMediaType,
}

/// What is known about a code.
struct ErrorFacts {
    /// For programs, in `snake_case`.
    name: &'static str,
    status: StatusCode,
    recovery_link: RecoveryLink,
    /// The heading of the error's page.
    title: &'static str,
    /// The message, unless the handler has a more precise one.
    sentence: &'static str,
}

impl ErrorCode {
    /// In the order of their declaration, which is alphabetical.
    #[rustfmt::skip]
    pub const ALL: [Self; 59] = [
        Self::AdminOff, Self::AllVoted, Self::AlreadyVoted, Self::BadChoice, Self::BadFile, Self::BadJson,
        Self::BadRequest, Self::BadSpec, Self::BadToken, Self::BodyCutOff, Self::BodyStalled,
        Self::BuildDamaged, Self::Busy, Self::CrossSite, Self::DoesNotFit, Self::Ended, Self::EqualModels,
        Self::Exists, Self::FootprintTooSmall, Self::Gone, Self::HeightTooSmall, Self::Internal,
        Self::MatchupOver, Self::MethodNotAllowed, Self::NoBlocks, Self::NoBuild, Self::NoDraft,
        Self::NoJob, Self::NoKey, Self::NoModel, Self::NoPrompt, Self::NoRun, Self::NoSuchMatchup,
        Self::NoSuchPrompt, Self::NoToken, Self::NotExported, Self::NotFound, Self::NotOneRun,
        Self::NotReady, Self::NotSeeded, Self::NotYours, Self::NothingToRead, Self::RateLimited,
        Self::Retired, Self::TextIsFixed, Self::TimedOut, Self::TooFewBlocks, Self::TooLarge,
        Self::TooManyBlocks, Self::TooManyCells, Self::TooManyKept, Self::TooManyRuns, Self::TooMuchWork,
        Self::TooSoon, Self::TryAgain, Self::UnderWay, Self::UnknownModel, Self::UnsupportedEncoding,
        Self::UnsupportedMediaType,
    ];

    #[rustfmt::skip]
    const fn facts(self) -> ErrorFacts {
        use RecoveryLink::*;
        use StatusCode as S;
        match self {
            Self::AdminOff => facts("admin_off", S::FORBIDDEN, Arena, "The console is off",
                "The console and the admin API are off. Set ADMIN_TOKEN and restart Buildoff."),
            Self::AllVoted => facts("all_voted", S::CONFLICT, Leaderboard, "You have seen every pair",
                "You have seen all pairs. Come back when there are new builds."),
            Self::AlreadyVoted => facts("already_voted", S::CONFLICT, Arena, "You have already voted",
                "You have already voted on this matchup. That vote stands."),
            Self::BadChoice => facts("bad_choice", S::BAD_REQUEST, Arena, "Vote not understood",
                "Choose A, B, TIE or BOTH_BAD."),
            Self::BadFile => facts("bad_file", S::BAD_REQUEST, Sandbox, "File not readable",
                "This file is damaged, or its format is not supported."),
            Self::BadJson => facts("bad_json", S::BAD_REQUEST, Sandbox, "No JSON found",
                "The text contains no readable JSON."),
            Self::BadRequest => facts("bad_request", S::BAD_REQUEST, Section, "Request not understood",
                "The request could not be understood."),
            Self::BadSpec => facts("bad_spec", S::BAD_REQUEST, Sandbox, "Not a build",
                "This JSON does not describe a build."),
            Self::BadToken => facts("bad_token", S::UNAUTHORIZED, SignIn, "Wrong token",
                "The admin token is wrong."),
            Self::BodyCutOff => facts("body_cut_off", S::BAD_REQUEST, Section, "Upload cut off",
                "The upload ended before it was complete. Try again."),
            Self::BodyStalled => facts("body_stalled", S::REQUEST_TIMEOUT, Section, "Upload stalled",
                "The upload stopped before it was complete. Try again."),
            Self::BuildDamaged => facts("build_damaged", S::INTERNAL_SERVER_ERROR, Builds, "This build is damaged",
                "The stored build cannot be read."),
            Self::Busy => facts("busy", S::SERVICE_UNAVAILABLE, TryAgain, "Too busy right now",
                "The server is busy. Try again in a moment."),
            Self::CrossSite => facts("cross_site", S::FORBIDDEN, Arena, "Request blocked",
                "The request came from another site, so it was blocked."),
            Self::DoesNotFit => facts("does_not_fit", S::BAD_REQUEST, Sandbox, "This build does not fit",
                "The build in this file is larger than the grid."),
            Self::Ended => facts("ended", S::CONFLICT, Console, "This job has ended",
                "This job has already ended."),
            Self::EqualModels => facts("equal_models", S::BAD_REQUEST, Sandbox, "Choose two different models",
                "Both sides use the same model. Choose another one."),
            Self::Exists => facts("exists", S::CONFLICT, Console, "This build already exists",
                "This model already has a build of this prompt."),
            Self::FootprintTooSmall => facts("footprint_too_small", S::UNPROCESSABLE_ENTITY, Sandbox, "This build is too small",
                "The build is too small along x and z."),
            Self::Gone => facts("gone", S::NOT_FOUND, Sandbox, "This run is no longer available",
                "A build of this run is no longer available."),
            Self::HeightTooSmall => facts("height_too_small", S::UNPROCESSABLE_ENTITY, Sandbox, "This build is too low",
                "The build is not tall enough."),
            Self::Internal => facts("internal", S::INTERNAL_SERVER_ERROR, TryAgain, "Something went wrong",
                "Something broke on our side. It has been logged."),
            Self::MatchupOver => facts("matchup_over", S::GONE, Arena, "This matchup is over",
                "This matchup has ended: it was skipped, or 30 minutes have passed."),
            Self::MethodNotAllowed => facts("method_not_allowed", S::METHOD_NOT_ALLOWED, Section, "This page cannot be opened",
                "This address does not support this kind of request."),
            Self::NoBlocks => facts("no_blocks", S::UNPROCESSABLE_ENTITY, Sandbox, "This build is empty",
                "The build has no blocks."),
            Self::NoBuild => facts("no_build", S::NOT_FOUND, Builds, "Build not found",
                "This build does not exist."),
            Self::NoDraft => facts("no_draft", S::NOT_FOUND, Sandbox, "Build not found",
                "This sandbox build does not exist, or it has expired."),
            Self::NoJob => facts("no_job", S::NOT_FOUND, Console, "Job not found",
                "This job does not exist."),
            Self::NoKey => facts("no_key", S::CONFLICT, Console, "This model needs an API key",
                "No API key is set for this model’s provider."),
            Self::NoModel => facts("no_model", S::NOT_FOUND, Leaderboard, "Model not found",
                "This model does not exist."),
            Self::NoPrompt => facts("no_prompt", S::NOT_FOUND, Prompts, "Prompt not found",
                "This prompt does not exist."),
            Self::NoRun => facts("no_run", S::NOT_FOUND, Sandbox, "Run not found",
                "This run does not exist: it was deleted, or its 30 days have passed."),
            Self::NoSuchMatchup => facts("no_such_matchup", S::NOT_FOUND, Arena, "Matchup not found",
                "This matchup does not exist, or it was shown to somebody else."),
            Self::NoSuchPrompt => facts("no_such_prompt", S::NOT_FOUND, Prompts, "Prompt not found",
                "This prompt does not exist."),
            Self::NoToken => facts("no_token", S::UNAUTHORIZED, SignIn, "Sign in to continue",
                "Only admins can do this."),
            Self::NotExported => facts("not_exported", S::UNPROCESSABLE_ENTITY, Builds, "Export not possible",
                "The build does not fit into this format."),
            Self::NotFound => facts("not_found", S::NOT_FOUND, Section, "Page not found",
                "This page does not exist."),
            Self::NotOneRun => facts("not_one_run", S::BAD_REQUEST, Sandbox, "These builds do not belong together",
                "The two builds are not from the same run."),
            Self::NotReady => facts("not_ready", S::SERVICE_UNAVAILABLE, TryAgain, "Not ready yet",
                "The database is not responding, or has a different version."),
            Self::NotSeeded => facts("not_seeded", S::CONFLICT, Builds, "Nothing to compare yet",
                "A matchup needs builds of the same prompt by two models."),
            Self::NotYours => facts("not_yours", S::FORBIDDEN, Sandbox, "This run belongs to another browser",
                "Only the browser that keeps this run can change it."),
            Self::NothingToRead => facts("nothing_to_read", S::CONFLICT, Console, "Nothing to parse again",
                "Answers can be parsed again only if the job failed and its build is still missing."),
            Self::RateLimited => facts("rate_limited", S::TOO_MANY_REQUESTS, TryAgain, "Too many requests",
                "You sent too many requests. Try again in a moment."),
            Self::Retired => facts("retired", S::CONFLICT, Console, "Already retired",
                "This build is already retired."),
            Self::TextIsFixed => facts("text_is_fixed", S::CONFLICT, Console, "This prompt cannot be changed",
                "This prompt has builds, so its text cannot be changed. Add another prompt instead."),
            Self::TimedOut => facts("timed_out", S::SERVICE_UNAVAILABLE, TryAgain, "This took too long",
                "The request took too long. Changes may still be completed; everything else was stopped."),
            Self::TooFewBlocks => facts("too_few_blocks", S::UNPROCESSABLE_ENTITY, Sandbox, "This build is too small",
                "The build has too few blocks."),
            Self::TooLarge => facts("too_large", S::PAYLOAD_TOO_LARGE, Section, "Too large",
                "The request is larger than this address accepts."),
            Self::TooManyBlocks => facts("too_many_blocks", S::UNPROCESSABLE_ENTITY, Sandbox, "This build is too large",
                "The build has more blocks than the grid allows."),
            Self::TooManyCells => facts("too_many_cells", S::BAD_REQUEST, Sandbox, "Too many blocks to list",
                "The build has too many blocks to list them all here."),
            Self::TooManyKept => facts("too_many_kept", S::CONFLICT, Sandbox, "Too many kept runs",
                "You already keep 100 runs. Delete one first."),
            Self::TooManyRuns => facts("too_many_runs", S::TOO_MANY_REQUESTS, Sandbox, "Too many runs at once",
                "Too many of your runs are in progress. Wait for one to finish."),
            Self::TooMuchWork => facts("too_much_work", S::BAD_REQUEST, Sandbox, "This build is too large",
                "The build writes too many blocks. Use fewer and larger boxes."),
            Self::TooSoon => facts("too_soon", S::TOO_MANY_REQUESTS, Arena, "Too soon to vote",
                "Please look at both builds for a moment first."),
            Self::TryAgain => facts("try_again", S::CONFLICT, TryAgain, "Please try again",
                "You sent several requests at once. Try again."),
            Self::UnderWay => facts("under_way", S::CONFLICT, Console, "Already in progress",
                "This build is already in progress."),
            Self::UnknownModel => facts("unknown_model", S::BAD_REQUEST, Sandbox, "Unknown model",
                "This model or provider does not exist, or it cannot be used here."),
            Self::UnsupportedEncoding => facts("unsupported_encoding", S::UNSUPPORTED_MEDIA_TYPE, Section, "Format not supported",
                "Send the body plain or gzipped; other encodings are not supported."),
            Self::UnsupportedMediaType => facts("unsupported_media_type", S::UNSUPPORTED_MEDIA_TYPE, Section, "Format not supported",
                "The body has the wrong content type."),
        }
    }

    /// What the API's document says, where that is not the sentence for people.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::AdminOff => "No `ADMIN_TOKEN` is set, so the admin API is off.",
            Self::BadRequest => "A parameter or the body is not as documented.",
            Self::BadSpec => "The JSON is not a spec; the message says where it goes wrong.",
            Self::Busy => "The server is busy. `Retry-After` says when to try again.",
            Self::Internal => {
                "Something broke on our side. It has been logged under the ID in `x-request-id`."
            }
            Self::NoToken => "Send the token as `Authorization: Bearer`, or sign in at /admin.",
            Self::NotExported => "The build does not fit into this format; the message says why.",
            Self::NotFound => "Nothing exists at this address.",
            Self::RateLimited => "You sent too many requests. `Retry-After` says when to try again.",
            Self::TooLarge => "The body is larger than this address accepts.",
            Self::UnsupportedMediaType => "Send the body as application/json.",
            other => other.sentence(),
        }
    }

    pub fn find(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|code| code.name() == name)
    }

    /// For an answer of which only the status is known.
    pub fn of(status: StatusCode) -> Self {
        match status {
            StatusCode::FORBIDDEN => Self::CrossSite,
            StatusCode::NOT_FOUND => Self::NotFound,
            StatusCode::METHOD_NOT_ALLOWED => Self::MethodNotAllowed,
            StatusCode::PAYLOAD_TOO_LARGE => Self::TooLarge,
            StatusCode::UNSUPPORTED_MEDIA_TYPE => Self::UnsupportedMediaType,
            status if status.is_server_error() => Self::Internal,
            _ => Self::BadRequest,
        }
    }

    pub fn name(self) -> &'static str {
        self.facts().name
    }

    pub fn status(self) -> StatusCode {
        self.facts().status
    }

    pub fn title(self) -> &'static str {
        self.facts().title
    }

    pub fn sentence(self) -> &'static str {
        self.facts().sentence
    }

    /// Where the page of an error leads: an address and the words of the link. An empty address is that of the
    /// page itself.
    pub fn recovery_link(self, method: &Method, path: &str) -> (&'static str, &'static str) {
        self.facts().recovery_link.link(method, path)
    }
}

const fn facts(
    name: &'static str,
    status: StatusCode,
    recovery_link: RecoveryLink,
    title: &'static str,
    sentence: &'static str,
) -> ErrorFacts {
    ErrorFacts { name, status, recovery_link, title, sentence }
}

impl From<RejectionCode> for ErrorCode {
    fn from(code: RejectionCode) -> Self {
        match code {
            RejectionCode::BadJson => Self::BadJson,
            RejectionCode::BadSpec => Self::BadSpec,
            RejectionCode::BadFile => Self::BadFile,
            RejectionCode::TooLarge => Self::TooLarge,
            RejectionCode::TooMuchWork => Self::TooMuchWork,
            RejectionCode::DoesNotFit => Self::DoesNotFit,
            RejectionCode::NoBlocks => Self::NoBlocks,
            RejectionCode::TooManyBlocks => Self::TooManyBlocks,
            RejectionCode::TooFewBlocks => Self::TooFewBlocks,
            RejectionCode::FootprintTooSmall => Self::FootprintTooSmall,
            RejectionCode::HeightTooSmall => Self::HeightTooSmall,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RecoveryLink {
    Arena,
    Builds,
    Console,
    Leaderboard,
    Prompts,
    Sandbox,
    SignIn,
    /// The same address, if it can be opened again.
    TryAgain,
    /// The part of the site that the address belongs to.
    Section,
}

impl RecoveryLink {
    fn link(self, method: &Method, path: &str) -> (&'static str, &'static str) {
        match self {
            Self::Arena => ("/", "Go to the arena"),
            Self::Builds => ("/builds", "Browse all builds"),
            Self::Console => ("/admin", "Go to the console"),
            Self::Leaderboard => ("/leaderboard", "See the leaderboard"),
            Self::Prompts => ("/prompts", "Browse all prompts"),
            Self::Sandbox => ("/sandbox", "Go to the sandbox"),
            Self::SignIn => ("/admin", "Sign in"),
            Self::TryAgain if method == Method::GET => ("", "Try again"),
            Self::TryAgain | Self::Section => Self::section(path).link(method, path),
        }
    }

    fn section(path: &str) -> Self {
        match path.split('/').nth(1) {
            Some("admin") => Self::Console,
            Some("builds") => Self::Builds,
            Some("leaderboard" | "models") => Self::Leaderboard,
            Some("prompts") => Self::Prompts,
            Some("sandbox") => Self::Sandbox,
            _ => Self::Arena,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_codes_are_listed_and_have_words_for_people() {
        assert!(ErrorCode::ALL.iter().enumerate().all(|(at, code)| *code as usize == at));
        assert_eq!(
            ErrorCode::ALL.last(),
            Some(&ErrorCode::UnsupportedMediaType),
            "the last that is declared"
        );
        assert!(ErrorCode::ALL.is_sorted_by(|a, b| a.name() < b.name()), "in alphabetical order, each once");
        for code in ErrorCode::ALL {
            let (title, sentence, meaning) = (code.title(), code.sentence(), code.meaning());
            assert!(title.len() <= 36 && !title.ends_with('.'), "{code:?}: {title:?} is no heading");
            assert!(title.starts_with(char::is_uppercase), "{code:?}: {title:?}");
            assert!(sentence.ends_with('.') && meaning.ends_with('.'), "{code:?}: {sentence:?}, {meaning:?}");
            assert!(!sentence.contains('`'), "{code:?}: {sentence:?} is for people");
        }
    }

    #[test]
    fn rejections_keep_their_names() {
        for code in [RejectionCode::BadJson, RejectionCode::TooLarge, RejectionCode::HeightTooSmall] {
            assert_eq!(ErrorCode::from(code).name(), code.name());
        }
    }

    #[test]
    fn a_page_leads_to_where_its_visitor_was_going() {
        let to = |way: RecoveryLink, method, path| way.link(&method, path).0;
        assert_eq!(to(RecoveryLink::TryAgain, Method::GET, "//elsewhere/x"), "", "the page itself");
        assert_eq!(to(RecoveryLink::TryAgain, Method::POST, "/matchup"), "/");
        assert_eq!(to(RecoveryLink::TryAgain, Method::POST, "/sandbox/runs/7/delete"), "/sandbox");
        for (path, section) in [
            ("/builds/7", "/builds"),
            ("/models/elm", "/leaderboard"),
            ("/admin/jobs/7", "/admin"),
            ("/nothing", "/"),
            ("", "/"),
        ] {
            assert_eq!(to(RecoveryLink::Section, Method::GET, path), section, "{path}");
        }
    }
}
