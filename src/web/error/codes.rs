//! Every code that an answer with an error can have: what it means, how its page is titled, and where that page
//! leads. Handlers, error pages and the API's document all take their words from here.

use axum::http::{Method, StatusCode};

/// What there is to say about an error once its code is known.
#[derive(Debug)]
pub(in crate::web) struct ErrorCode {
    /// For programs, in `snake_case`.
    pub code: &'static str,
    /// None for a code that comes with several.
    pub status: Option<StatusCode>,
    /// The heading of its page.
    pub title: &'static str,
    /// What is said where the handler does not say it more precisely.
    pub sentence: &'static str,
    /// What the API's document says of it.
    pub meaning: &'static str,
    pub recovery_link: RecoveryLink,
}

/// Where an error's page leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::web) enum RecoveryLink {
    Arena,
    Builds,
    Console,
    Leaderboard,
    Prompts,
    Sandbox,
    SignIn,
    /// To the same address, if it can be opened again.
    TryAgain,
    /// To the part of the site that the address belongs to.
    Section,
}

impl RecoveryLink {
    /// The link's address and its words. An empty address is that of the page itself.
    pub fn link(self, method: &Method, path: &str) -> (&'static str, &'static str) {
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

impl ErrorCode {
    pub fn find(code: &str) -> Option<&'static Self> {
        CODES.iter().find(|known| known.code == code)
    }

    /// What is known when nothing but the status is.
    pub fn of(status: StatusCode) -> &'static Self {
        match status {
            StatusCode::FORBIDDEN => &CROSS_SITE,
            StatusCode::NOT_FOUND => &NOT_FOUND,
            StatusCode::METHOD_NOT_ALLOWED => &METHOD_NOT_ALLOWED,
            StatusCode::PAYLOAD_TOO_LARGE => &TOO_LARGE,
            StatusCode::UNSUPPORTED_MEDIA_TYPE => &UNSUPPORTED_MEDIA_TYPE,
            status if status.is_server_error() => &INTERNAL,
            _ => &BAD_REQUEST,
        }
    }

    const fn new(
        code: &'static str,
        status: StatusCode,
        title: &'static str,
        sentence: &'static str,
        recovery_link: RecoveryLink,
    ) -> Self {
        Self { code, status: Some(status), title, sentence, meaning: sentence, recovery_link }
    }

    const fn meaning(self, meaning: &'static str) -> Self {
        Self { meaning, ..self }
    }

    const fn with_any_status(self) -> Self {
        Self { status: None, ..self }
    }
}

const BAD_REQUEST: ErrorCode = ErrorCode::new(
    "bad_request",
    StatusCode::BAD_REQUEST,
    "Request not understood",
    "The request could not be understood.",
    RecoveryLink::Section,
)
.meaning("A parameter or the body is not as documented.")
.with_any_status();

const CROSS_SITE: ErrorCode = ErrorCode::new(
    "cross_site",
    StatusCode::FORBIDDEN,
    "Request blocked",
    "The request came from another site, so it was blocked.",
    RecoveryLink::Arena,
);

const INTERNAL: ErrorCode = ErrorCode::new(
    "internal",
    StatusCode::INTERNAL_SERVER_ERROR,
    "Something went wrong",
    "Something broke on our side. It has been logged.",
    RecoveryLink::TryAgain,
)
.meaning("Something broke on our side. It has been logged under the ID in `x-request-id`.");

const METHOD_NOT_ALLOWED: ErrorCode = ErrorCode::new(
    "method_not_allowed",
    StatusCode::METHOD_NOT_ALLOWED,
    "This page cannot be opened",
    "This address does not support this kind of request.",
    RecoveryLink::Section,
);

const NOT_FOUND: ErrorCode = ErrorCode::new(
    "not_found",
    StatusCode::NOT_FOUND,
    "Page not found",
    "This page does not exist.",
    RecoveryLink::Section,
)
.meaning("Nothing exists at this address.");

const TOO_LARGE: ErrorCode = ErrorCode::new(
    "too_large",
    StatusCode::PAYLOAD_TOO_LARGE,
    "Too large",
    "The request is larger than this address accepts.",
    RecoveryLink::Section,
)
.meaning("The body is larger than this address accepts.");

const UNSUPPORTED_MEDIA_TYPE: ErrorCode = ErrorCode::new(
    "unsupported_media_type",
    StatusCode::UNSUPPORTED_MEDIA_TYPE,
    "Format not supported",
    "The body has the wrong content type.",
    RecoveryLink::Section,
)
.meaning("Send the body as application/json.");

/// By their names.
pub(in crate::web) const CODES: [ErrorCode; 59] = [
    ErrorCode::new(
        "admin_off",
        StatusCode::FORBIDDEN,
        "The console is off",
        "No ADMIN_TOKEN is set on this server, so nobody can sign in.",
        RecoveryLink::Arena,
    )
    .meaning("No `ADMIN_TOKEN` is set, so the admin API is off."),
    ErrorCode::new(
        "all_voted",
        StatusCode::CONFLICT,
        "You have seen every pair",
        "You have seen all pairs. Come back when there are new builds.",
        RecoveryLink::Leaderboard,
    ),
    ErrorCode::new(
        "already_voted",
        StatusCode::CONFLICT,
        "You have already voted",
        "You have already voted on this matchup. That vote stands.",
        RecoveryLink::Arena,
    ),
    ErrorCode::new(
        "bad_choice",
        StatusCode::BAD_REQUEST,
        "Vote not understood",
        "Choose A, B, TIE or BOTH_BAD.",
        RecoveryLink::Arena,
    ),
    ErrorCode::new(
        "bad_file",
        StatusCode::BAD_REQUEST,
        "File not readable",
        "This file is damaged, or its format is not supported.",
        RecoveryLink::Sandbox,
    ),
    ErrorCode::new(
        "bad_json",
        StatusCode::BAD_REQUEST,
        "No JSON found",
        "The text contains no readable JSON.",
        RecoveryLink::Sandbox,
    ),
    BAD_REQUEST,
    ErrorCode::new(
        "bad_spec",
        StatusCode::BAD_REQUEST,
        "Not a build",
        "This JSON does not describe a build.",
        RecoveryLink::Sandbox,
    )
    .meaning("The JSON is not a spec; the message says where it goes wrong."),
    ErrorCode::new(
        "bad_token",
        StatusCode::UNAUTHORIZED,
        "Wrong token",
        "The admin token is wrong.",
        RecoveryLink::SignIn,
    ),
    ErrorCode::new(
        "body_cut_off",
        StatusCode::BAD_REQUEST,
        "Upload cut off",
        "The upload ended before it was complete. Try again.",
        RecoveryLink::Section,
    ),
    ErrorCode::new(
        "body_stalled",
        StatusCode::REQUEST_TIMEOUT,
        "Upload stalled",
        "The upload stopped before it was complete. Try again.",
        RecoveryLink::Section,
    ),
    ErrorCode::new(
        "build_damaged",
        StatusCode::INTERNAL_SERVER_ERROR,
        "This build is damaged",
        "The stored build cannot be read.",
        RecoveryLink::Builds,
    ),
    ErrorCode::new(
        "busy",
        StatusCode::SERVICE_UNAVAILABLE,
        "Too busy right now",
        "The server is busy. Try again in a moment.",
        RecoveryLink::TryAgain,
    )
    .meaning("The server is busy. `Retry-After` says when to try again."),
    CROSS_SITE,
    ErrorCode::new(
        "does_not_fit",
        StatusCode::BAD_REQUEST,
        "This build does not fit",
        "The build in this file is larger than the grid.",
        RecoveryLink::Sandbox,
    ),
    ErrorCode::new(
        "ended",
        StatusCode::CONFLICT,
        "This job has ended",
        "This job has already ended.",
        RecoveryLink::Console,
    ),
    ErrorCode::new(
        "equal_models",
        StatusCode::BAD_REQUEST,
        "Choose two different models",
        "Both sides use the same model. Choose another one.",
        RecoveryLink::Sandbox,
    ),
    ErrorCode::new(
        "exists",
        StatusCode::CONFLICT,
        "This build already exists",
        "This model already has a build of this prompt.",
        RecoveryLink::Console,
    ),
    ErrorCode::new(
        "footprint_too_small",
        StatusCode::UNPROCESSABLE_ENTITY,
        "This build is too small",
        "The build is too small along x and z.",
        RecoveryLink::Sandbox,
    ),
    ErrorCode::new(
        "gone",
        StatusCode::NOT_FOUND,
        "This run is no longer available",
        "A build of this run is no longer available.",
        RecoveryLink::Sandbox,
    ),
    ErrorCode::new(
        "height_too_small",
        StatusCode::UNPROCESSABLE_ENTITY,
        "This build is too low",
        "The build is not tall enough.",
        RecoveryLink::Sandbox,
    ),
    INTERNAL,
    ErrorCode::new(
        "matchup_over",
        StatusCode::GONE,
        "This matchup is over",
        "It was skipped, or 30 minutes have passed.",
        RecoveryLink::Arena,
    ),
    METHOD_NOT_ALLOWED,
    ErrorCode::new(
        "no_blocks",
        StatusCode::UNPROCESSABLE_ENTITY,
        "This build is empty",
        "The build has no blocks.",
        RecoveryLink::Sandbox,
    ),
    ErrorCode::new(
        "no_build",
        StatusCode::NOT_FOUND,
        "Build not found",
        "This build does not exist.",
        RecoveryLink::Builds,
    ),
    ErrorCode::new(
        "no_draft",
        StatusCode::NOT_FOUND,
        "Build not found",
        "This sandbox build does not exist, or it has expired.",
        RecoveryLink::Sandbox,
    ),
    ErrorCode::new(
        "no_job",
        StatusCode::NOT_FOUND,
        "Job not found",
        "This job does not exist.",
        RecoveryLink::Console,
    ),
    ErrorCode::new(
        "no_key",
        StatusCode::CONFLICT,
        "This model needs an API key",
        "No API key is set for this model’s provider.",
        RecoveryLink::Console,
    ),
    ErrorCode::new(
        "no_model",
        StatusCode::NOT_FOUND,
        "Model not found",
        "This model does not exist.",
        RecoveryLink::Leaderboard,
    ),
    ErrorCode::new(
        "no_prompt",
        StatusCode::NOT_FOUND,
        "Prompt not found",
        "This prompt does not exist.",
        RecoveryLink::Prompts,
    ),
    ErrorCode::new(
        "no_run",
        StatusCode::NOT_FOUND,
        "Run not found",
        "This run does not exist: it was deleted, or its 30 days have passed.",
        RecoveryLink::Sandbox,
    ),
    ErrorCode::new(
        "no_such_matchup",
        StatusCode::NOT_FOUND,
        "Matchup not found",
        "This matchup does not exist, or it was shown to somebody else.",
        RecoveryLink::Arena,
    ),
    ErrorCode::new(
        "no_such_prompt",
        StatusCode::NOT_FOUND,
        "Prompt not found",
        "This prompt does not exist.",
        RecoveryLink::Prompts,
    ),
    ErrorCode::new(
        "no_token",
        StatusCode::UNAUTHORIZED,
        "Sign in to continue",
        "Only admins can do this.",
        RecoveryLink::SignIn,
    )
    .meaning("Send the token as `Authorization: Bearer`, or sign in at /admin."),
    ErrorCode::new(
        "not_exported",
        StatusCode::UNPROCESSABLE_ENTITY,
        "Export not possible",
        "The build does not fit into this format.",
        RecoveryLink::Builds,
    )
    .meaning("The build does not fit into this format; the message says why."),
    NOT_FOUND,
    ErrorCode::new(
        "not_one_run",
        StatusCode::BAD_REQUEST,
        "These builds do not belong together",
        "The two builds are not from the same run.",
        RecoveryLink::Sandbox,
    ),
    ErrorCode::new(
        "not_ready",
        StatusCode::SERVICE_UNAVAILABLE,
        "Not ready yet",
        "The database is not responding, or has a different version.",
        RecoveryLink::TryAgain,
    ),
    ErrorCode::new(
        "not_seeded",
        StatusCode::CONFLICT,
        "Nothing to compare yet",
        "A matchup needs builds of the same prompt by two models.",
        RecoveryLink::Builds,
    ),
    ErrorCode::new(
        "not_yours",
        StatusCode::FORBIDDEN,
        "This run belongs to another browser",
        "Only the browser that keeps this run can change it.",
        RecoveryLink::Sandbox,
    ),
    ErrorCode::new(
        "nothing_to_read",
        StatusCode::CONFLICT,
        "Nothing to parse again",
        "Answers can be parsed again only if the job failed and its build is still missing.",
        RecoveryLink::Console,
    ),
    ErrorCode::new(
        "rate_limited",
        StatusCode::TOO_MANY_REQUESTS,
        "Too many requests",
        "You sent too many requests. Try again in a moment.",
        RecoveryLink::TryAgain,
    )
    .meaning("You sent too many requests. `Retry-After` says when to try again."),
    ErrorCode::new(
        "retired",
        StatusCode::CONFLICT,
        "Already retired",
        "This build is already retired.",
        RecoveryLink::Console,
    ),
    ErrorCode::new(
        "text_is_fixed",
        StatusCode::CONFLICT,
        "This prompt cannot be changed",
        "This prompt has builds, so its text cannot be changed.",
        RecoveryLink::Console,
    ),
    ErrorCode::new(
        "timed_out",
        StatusCode::SERVICE_UNAVAILABLE,
        "This took too long",
        "The request took too long. Changes may still be completed; everything else was stopped.",
        RecoveryLink::TryAgain,
    ),
    ErrorCode::new(
        "too_few_blocks",
        StatusCode::UNPROCESSABLE_ENTITY,
        "This build is too small",
        "The build has too few blocks.",
        RecoveryLink::Sandbox,
    ),
    TOO_LARGE,
    ErrorCode::new(
        "too_many_blocks",
        StatusCode::UNPROCESSABLE_ENTITY,
        "This build is too large",
        "The build has more blocks than the grid allows.",
        RecoveryLink::Sandbox,
    ),
    ErrorCode::new(
        "too_many_cells",
        StatusCode::BAD_REQUEST,
        "Too many blocks to list",
        "The build has too many blocks to list them all here.",
        RecoveryLink::Sandbox,
    ),
    ErrorCode::new(
        "too_many_kept",
        StatusCode::CONFLICT,
        "Too many kept runs",
        "You already keep 100 runs. Delete one first.",
        RecoveryLink::Sandbox,
    ),
    ErrorCode::new(
        "too_many_runs",
        StatusCode::TOO_MANY_REQUESTS,
        "Too many runs at once",
        "Too many of your runs are in progress. Wait for one to finish.",
        RecoveryLink::Sandbox,
    ),
    ErrorCode::new(
        "too_much_work",
        StatusCode::BAD_REQUEST,
        "This build is too large",
        "The build writes too many blocks. Use fewer and larger boxes.",
        RecoveryLink::Sandbox,
    ),
    ErrorCode::new(
        "too_soon",
        StatusCode::TOO_MANY_REQUESTS,
        "Too soon to vote",
        "Please look at both builds for a moment first.",
        RecoveryLink::Arena,
    ),
    ErrorCode::new(
        "try_again",
        StatusCode::CONFLICT,
        "Please try again",
        "You sent several requests at once. Try again.",
        RecoveryLink::TryAgain,
    ),
    ErrorCode::new(
        "under_way",
        StatusCode::CONFLICT,
        "Already in progress",
        "This build is already in progress.",
        RecoveryLink::Console,
    ),
    ErrorCode::new(
        "unknown_model",
        StatusCode::BAD_REQUEST,
        "Unknown model",
        "This model or provider does not exist, or it cannot be used here.",
        RecoveryLink::Sandbox,
    ),
    ErrorCode::new(
        "unsupported_encoding",
        StatusCode::UNSUPPORTED_MEDIA_TYPE,
        "Format not supported",
        "Send the body plain or gzipped; other encodings are not supported.",
        RecoveryLink::Section,
    ),
    UNSUPPORTED_MEDIA_TYPE,
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::{Path, PathBuf};

    use super::*;

    #[test]
    fn codes_are_in_order_and_their_words_are_words_for_people() {
        assert!(CODES.is_sorted_by(|a, b| a.code < b.code), "in alphabetical order, each once");
        for ErrorCode { code, title, sentence, meaning, .. } in &CODES {
            assert!(title.len() <= 36 && !title.ends_with('.'), "{code}: {title:?} is no heading");
            assert!(title.starts_with(char::is_uppercase), "{code}: {title:?}");
            assert!(sentence.ends_with('.') && meaning.ends_with('.'), "{code}: {sentence:?}, {meaning:?}");
            assert!(!sentence.contains('`'), "{code}: {sentence:?} is for people");
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

    /// What is said in the sources next to a status, or to what makes an error of a code.
    #[test]
    fn every_code_that_is_used_is_known_with_its_status() {
        let mut used = BTreeSet::new();
        let home = Path::new(env!("CARGO_MANIFEST_DIR"));
        for file in [home.join("src"), home.join("crates")].iter().flat_map(|folder| sources(folder)) {
            let text = fs::read_to_string(&file).unwrap();
            let is_refusal = file.ends_with("voxel/src/diagnostics.rs");
            let named = [
                "from_code(",
                "bad_request(",
                "unavailable(",
                "with_code(",
                "with_message(",
                "unauthorized(",
            ];
            for start in named.into_iter().chain(is_refusal.then_some("=>")) {
                used.extend(text.split(start).skip(1).filter_map(literal).map(str::to_owned));
            }
            for after in text.split("StatusCode::").skip(1) {
                let (status, rest) =
                    after.split_at(after.find(|c: char| !c.is_ascii_uppercase() && c != '_').unwrap());
                let Some(code) = rest.trim_start().strip_prefix(',').and_then(literal) else { continue };
                used.insert(code.to_owned());
                let known = ErrorCode::find(code).unwrap_or_else(|| panic!("{code} is not in the table"));
                if let Some(known) = known.status {
                    let name = known.canonical_reason().unwrap().replace([' ', '-'], "_").to_uppercase();
                    assert_eq!(status, name, "{code} in {}", file.display());
                }
            }
        }
        assert!(used.contains("no_job") && used.contains("gone") && used.contains("no_blocks"), "{used:?}");
        let unknown: Vec<_> = used.iter().filter(|code| ErrorCode::find(code).is_none()).collect();
        assert_eq!(unknown, Vec::<&String>::new(), "these are not in the table");
    }

    /// The code that an argument begins with.
    fn literal(text: &str) -> Option<&str> {
        let (code, _) = text.trim_start().strip_prefix('"')?.split_once('"')?;
        let is_code = code.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
        (is_code && !code.is_empty()).then_some(code)
    }

    fn sources(folder: &Path) -> Vec<PathBuf> {
        let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let (folders, files): (Vec<_>, Vec<_>) = entries.partition(|path| path.is_dir());
        let here = files.into_iter().filter(|path| path.extension().is_some_and(|kind| kind == "rs"));
        here.chain(folders.iter().flat_map(|folder| sources(folder))).collect()
    }
}
