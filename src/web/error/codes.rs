//! Every code that an error can have. Handlers, error pages and the API's document take its status and its words
//! from here, so that they cannot differ.

use axum::http::{Method, StatusCode};
use voxel::RejectionCode;

/// Declares the codes. Each entry has a name for programs, a status, a link, the heading of the error's page, and the
/// message that is shown unless the handler has a more precise one.
macro_rules! error_codes {
    ($($code:ident($name:literal, $status:ident, $link:ident, $title:literal, $sentence:literal);)*) => {
        /// What went wrong. The names in JSON are stable; programs rely on them.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum ErrorCode {
            $($code,)*
        }

        impl ErrorCode {
            pub const ALL: &[Self] = &[$(Self::$code),*];

            const fn facts(self) -> ErrorFacts {
                match self {
                    $(Self::$code => ErrorFacts {
                        name: $name,
                        status: StatusCode::$status,
                        recovery_link: RecoveryLink::$link,
                        title: $title,
                        sentence: $sentence,
                    },)*
                }
            }
        }
    };
}

// In alphabetical order.
error_codes! {
    AddressRefused("address_refused", BAD_REQUEST, Section, "Address refused",
        "This address cannot be used.");
    AdminOff("admin_off", FORBIDDEN, Arena, "The console is off",
        "The console and the admin API are off. Set ADMIN_TOKEN and restart Buildoff.");
    AgentExists("agent_exists", CONFLICT, Console, "This key is taken",
        "There is an agent, a model or a provider with this key already.");
    AgentInUse("agent_in_use", CONFLICT, Console, "This agent cannot be removed",
        "This agent has builds or jobs, so it cannot be removed. Disable it instead.");
    AllJudged("all_judged", CONFLICT, Builds, "Nothing left to judge",
        "You have judged or skipped every build. Skipped ones come back after a day.");
    AllVoted("all_voted", CONFLICT, Leaderboard, "You have seen every pair",
        "You have seen all pairs. Come back when there are new builds.");
    AlreadyJudged("already_judged", CONFLICT, Judge, "You have already judged this",
        "You have already judged this build. That judgement stands.");
    AlreadyVoted("already_voted", CONFLICT, Arena, "You have already voted",
        "You have already voted on this matchup. That vote stands.");
    ArenaClosed("arena_closed", SERVICE_UNAVAILABLE, Leaderboard, "Voting is closed",
        "Voting is closed for now. All results stay available.");
    AssessmentOver("assessment_over", CONFLICT, Section, "This assessment has ended",
        "This assessment has already ended.");
    BadAgentToken("bad_agent_token", UNAUTHORIZED, Section, "Wrong token",
        "This agent token is unknown or revoked.");
    BadChoice("bad_choice", BAD_REQUEST, Arena, "Vote not understood",
        "Choose A, B, TIE or BOTH_BAD.");
    BadFile("bad_file", BAD_REQUEST, Sandbox, "File not readable",
        "This file is damaged, or its format is not supported.");
    BadJson("bad_json", BAD_REQUEST, Sandbox, "No JSON found",
        "The text contains no readable JSON.");
    BadOrder("bad_order", BAD_REQUEST, Section, "Order not understood",
        "This order for an assessment cannot be carried out.");
    BadReason("bad_reason", BAD_REQUEST, Console, "A reason is needed",
        "Give a reason of 1 to 500 characters. Everybody can read it.");
    BadRequest("bad_request", BAD_REQUEST, Section, "Request not understood",
        "The request could not be understood.");
    BadScores("bad_scores", BAD_REQUEST, Judge, "Scores not understood",
        "Give at least one score from 0 to 10, in steps of 0.5.");
    BadSpec("bad_spec", BAD_REQUEST, Sandbox, "Not a build",
        "This JSON does not describe a build.");
    BadToken("bad_token", UNAUTHORIZED, SignIn, "Wrong token",
        "The admin token is wrong.");
    BodyCutOff("body_cut_off", BAD_REQUEST, Section, "Upload cut off",
        "The upload ended before it was complete. Try again.");
    BodyStalled("body_stalled", REQUEST_TIMEOUT, Section, "Upload stalled",
        "The upload stopped, or was too slow. Try again.");
    BuildDamaged("build_damaged", INTERNAL_SERVER_ERROR, Builds, "This build is damaged",
        "The stored build cannot be read.");
    BuildRetired("build_retired", CONFLICT, Judge, "This build was retired",
        "This build was retired, so it is no longer judged.");
    Busy("busy", SERVICE_UNAVAILABLE, TryAgain, "Too busy right now",
        "The server is busy. Try again in a moment.");
    CrossSite("cross_site", FORBIDDEN, Arena, "Request blocked",
        "The request came from another site, so it was blocked.");
    DatabaseUnavailable("database_unavailable", SERVICE_UNAVAILABLE, TryAgain, "Back in a moment",
        "The database is not available right now. Try again in a moment.");
    DoesNotFit("does_not_fit", BAD_REQUEST, Sandbox, "This build does not fit",
        "The build in this file is larger than the grid.");
    Ended("ended", CONFLICT, Console, "This job has ended",
        "This job has already ended.");
    EqualModels("equal_models", BAD_REQUEST, Sandbox, "Choose two different models",
        "Both sides use the same model. Choose another one.");
    Exists("exists", CONFLICT, Console, "This build already exists",
        "This model already has a build of this prompt.");
    FootprintTooSmall("footprint_too_small", UNPROCESSABLE_ENTITY, Sandbox, "This build is too small",
        "The build is too small along x and z.");
    Gone("gone", NOT_FOUND, Sandbox, "This run is no longer available",
        "A build of this run is no longer available.");
    HeightTooSmall("height_too_small", UNPROCESSABLE_ENTITY, Sandbox, "This build is too low",
        "The build is not tall enough.");
    Internal("internal", INTERNAL_SERVER_ERROR, TryAgain, "Something went wrong",
        "Something broke on our side. It has been logged.");
    JudgingOver("judging_over", GONE, Judge, "No longer open",
        "This build is no longer open to you: it was skipped, retired, or two hours have passed.");
    MatchupOver("matchup_over", GONE, Arena, "This matchup is over",
        "This matchup has ended: it was skipped, or 30 minutes have passed.");
    MayNotAssess("may_not_assess", FORBIDDEN, Section, "A token is needed",
        "Assessments are ordered with the token of an agent’s owner, which an admin makes.");
    MethodNotAllowed("method_not_allowed", METHOD_NOT_ALLOWED, Section, "This page cannot be opened",
        "This address does not support this kind of request.");
    ModelInUse("model_in_use", CONFLICT, Console, "This model cannot be deleted",
        "This model has builds or jobs, so it cannot be deleted. Disable it instead.");
    ModelIsFixed("model_is_fixed", CONFLICT, Console, "This model cannot be changed",
        "This model has builds or is being asked for one, so its provider, ID and options cannot be changed. Add it under another key, or retire its builds.");
    NoAgent("no_agent", NOT_FOUND, Section, "Agent not found",
        "This agent does not exist.");
    NoAgentToken("no_agent_token", UNAUTHORIZED, Section, "A token is needed",
        "Only the agent’s owner can do this, with a token that an admin makes.");
    NoAssessment("no_assessment", NOT_FOUND, Section, "Assessment not found",
        "This assessment does not exist.");
    NoBlocks("no_blocks", UNPROCESSABLE_ENTITY, Sandbox, "This build is empty",
        "The build has no blocks.");
    NoBuild("no_build", NOT_FOUND, Builds, "Build not found",
        "This build does not exist.");
    NoDraft("no_draft", NOT_FOUND, Sandbox, "Build not found",
        "This sandbox build does not exist, or it has expired.");
    NoJob("no_job", NOT_FOUND, Console, "Job not found",
        "This job does not exist.");
    NoKey("no_key", CONFLICT, Console, "This model needs an API key",
        "No API key is set for this model’s provider.");
    NoModel("no_model", NOT_FOUND, Leaderboard, "Model not found",
        "This model does not exist.");
    NoPrompt("no_prompt", NOT_FOUND, Prompts, "Prompt not found",
        "This prompt does not exist.");
    NoRun("no_run", NOT_FOUND, Sandbox, "Run not found",
        "This run does not exist: it was deleted, or its 30 days have passed.");
    NoSuchJudging("no_such_judging", NOT_FOUND, Judge, "Nothing to judge here",
        "This does not exist, or somebody else judges it.");
    NoSuchMatchup("no_such_matchup", NOT_FOUND, Arena, "Matchup not found",
        "This matchup does not exist, or it was shown to somebody else.");
    NoSuchPrompt("no_such_prompt", NOT_FOUND, Prompts, "Prompt not found",
        "This prompt does not exist.");
    NoSuchRange("no_such_range", RANGE_NOT_SATISFIABLE, Section, "No such part",
        "The file has no such bytes.");
    NoSuchRun("no_such_run", NOT_FOUND, Section, "Run not found",
        "This run does not exist.");
    NoSuchToken("no_such_token", NOT_FOUND, Console, "Token not found",
        "This agent has no such token.");
    NoToken("no_token", UNAUTHORIZED, SignIn, "Sign in to continue",
        "Only admins can do this.");
    NoVision("no_vision", CONFLICT, Console, "This model sees no pictures",
        "This model does not see pictures, so it cannot judge.");
    NoVotes("no_votes", CONFLICT, Console, "No votes to decide about",
        "No votes match, or this has already been decided about all of them.");
    NotExported("not_exported", UNPROCESSABLE_ENTITY, Builds, "Export not possible",
        "The build does not fit into this format.");
    NotFound("not_found", NOT_FOUND, Section, "Page not found",
        "This page does not exist.");
    NotOneRun("not_one_run", BAD_REQUEST, Sandbox, "These builds do not belong together",
        "The two builds are not from the same run.");
    NotPublished("not_published", CONFLICT, Section, "Not published yet",
        "This is published when the assessment has ended.");
    NotReady("not_ready", SERVICE_UNAVAILABLE, TryAgain, "Not ready yet",
        "The database is not responding, or has a different version.");
    NotSeeded("not_seeded", CONFLICT, Builds, "Nothing to compare yet",
        "A matchup needs builds of the same prompt by two models.");
    NotWritable("not_writable", SERVICE_UNAVAILABLE, TryAgain, "Nothing can be saved right now",
        "Nothing can be saved right now. Try again in a minute.");
    NotYourAgent("not_your_agent", FORBIDDEN, Section, "Not your agent",
        "This token is for another agent.");
    NotYours("not_yours", FORBIDDEN, Sandbox, "This run belongs to another browser",
        "Only the browser that keeps this run can change it.");
    NothingToRead("nothing_to_read", CONFLICT, Console, "Nothing to parse again",
        "Answers can be parsed again only if the job failed and its build is still missing.");
    PersonCheckFailed("person_check_failed", FORBIDDEN, Arena, "Check not passed",
        "The check that you are a person was not passed. Try again.");
    PersonCheckRequired("person_check_required", FORBIDDEN, Arena, "A short check comes first",
        "Your browser has to pass a short check before you can vote.");
    RateLimited("rate_limited", TOO_MANY_REQUESTS, TryAgain, "Too many requests",
        "You sent too many requests. Try again in a moment.");
    Retired("retired", CONFLICT, Console, "Already retired",
        "This build is already retired.");
    TextIsFixed("text_is_fixed", CONFLICT, Console, "This prompt cannot be changed",
        "This prompt has builds, so its text cannot be changed. Add another prompt instead.");
    TimedOut("timed_out", SERVICE_UNAVAILABLE, TryAgain, "This took too long",
        "The request took too long. Changes may still be completed; everything else was stopped.");
    TooFewBlocks("too_few_blocks", UNPROCESSABLE_ENTITY, Sandbox, "This build is too small",
        "The build has too few blocks.");
    TooLarge("too_large", PAYLOAD_TOO_LARGE, Section, "Too large",
        "The request is larger than this address accepts.");
    TooManyAssessments("too_many_assessments", TOO_MANY_REQUESTS, Section, "Too many assessments",
        "Too many assessments were ordered. Try again later.");
    TooManyBlocks("too_many_blocks", UNPROCESSABLE_ENTITY, Sandbox, "This build is too large",
        "The build has more blocks than the grid allows.");
    TooManyCells("too_many_cells", BAD_REQUEST, Sandbox, "Too many blocks to list",
        "The build has too many blocks to list them all here.");
    TooManyKept("too_many_kept", CONFLICT, Sandbox, "Too many kept runs",
        "You already keep 100 runs. Delete one first.");
    TooManyRuns("too_many_runs", TOO_MANY_REQUESTS, Sandbox, "Too many runs at once",
        "Too many of your runs are in progress. Wait for one to finish.");
    TooManyVotes("too_many_votes", CONFLICT, Console, "Too many votes at once",
        "More than 500,000 votes match. Choose a shorter time.");
    TooMuchWork("too_much_work", BAD_REQUEST, Sandbox, "This build is too large",
        "The build writes too many blocks. Use fewer and larger boxes.");
    TooSoon("too_soon", TOO_MANY_REQUESTS, Arena, "Too soon to vote",
        "Please look at both builds for a moment first.");
    TryAgain("try_again", CONFLICT, TryAgain, "Please try again",
        "You sent several requests at once. Try again.");
    UnderWay("under_way", CONFLICT, Console, "Already in progress",
        "This build is already in progress.");
    UnknownModel("unknown_model", BAD_REQUEST, Sandbox, "Unknown model",
        "This model or provider does not exist, or it cannot be used here.");
    UnsupportedEncoding("unsupported_encoding", UNSUPPORTED_MEDIA_TYPE, Section, "Format not supported",
        "Send the body plain or gzipped; other encodings are not supported.");
    UnsupportedMediaType("unsupported_media_type", UNSUPPORTED_MEDIA_TYPE, Section, "Format not supported",
        "The body has the wrong content type.");
    VoteFirst("vote_first", CONFLICT, Arena, "Vote on it first",
        "This build is in your open matchup. Vote or skip there, then send your judgement.");
}

/// What is known about a code.
struct ErrorFacts {
    name: &'static str,
    status: StatusCode,
    recovery_link: RecoveryLink,
    title: &'static str,
    sentence: &'static str,
}

impl ErrorCode {
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
            Self::ModelIsFixed => {
                "The model has builds in force or a job that has begun, so how it is asked cannot be changed. PUT it \
                 under another key to add a contestant, or retire its builds with `retireBuilds=1`."
            }
            Self::NoToken => "Send the token as `Authorization: Bearer`, or sign in at /admin.",
            Self::NotExported => "The build does not fit into this format; the message says why.",
            Self::NotFound => "Nothing exists at this address.",
            Self::RateLimited => "You sent too many requests. `Retry-After` says when to try again.",
            Self::TooLarge => "The body is larger than this address accepts.",
            Self::UnsupportedMediaType => "Send the body as application/json.",
            Self::DatabaseUnavailable => {
                "The database is restarting or cannot be reached. `Retry-After` says when to try again."
            }
            Self::NotWritable => {
                "The database's disk is full, or it is read-only. `Retry-After` says when to try again."
            }
            other => other.sentence(),
        }
    }

    pub fn find(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|code| code.name() == name)
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
    Agents,
    Arena,
    Builds,
    Console,
    Judge,
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
            Self::Agents => ("/agents", "See all agents"),
            Self::Arena => ("/", "Go to the arena"),
            Self::Builds => ("/builds", "Browse all builds"),
            Self::Console => ("/admin", "Go to the console"),
            Self::Judge => ("/judge", "Judge another build"),
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
            Some("agents" | "assessments" | "runs") => Self::Agents,
            Some("builds") => Self::Builds,
            Some("judge") => Self::Judge,
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
    fn all_codes_are_in_order_and_have_words_for_people() {
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
            ("/runs/7", "/agents"),
            ("/admin/jobs/7", "/admin"),
            ("/nothing", "/"),
            ("", "/"),
        ] {
            assert_eq!(to(RecoveryLink::Section, Method::GET, path), section, "{path}");
        }
    }
}
