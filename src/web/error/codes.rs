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
.meaning("A parameter or the body is not as described.")
.with_any_status();

const CROSS_SITE: ErrorCode = ErrorCode::new(
    "cross_site",
    StatusCode::FORBIDDEN,
    "Request blocked",
    "Another site sent this request, so it was not done.",
    RecoveryLink::Arena,
);

const INTERNAL: ErrorCode = ErrorCode::new(
    "internal",
    StatusCode::INTERNAL_SERVER_ERROR,
    "Something went wrong",
    "Something broke on our side. It has been logged.",
    RecoveryLink::TryAgain,
)
.meaning("Something broke on our side. It has been logged under the number in `x-request-id`.");

const METHOD_NOT_ALLOWED: ErrorCode = ErrorCode::new(
    "method_not_allowed",
    StatusCode::METHOD_NOT_ALLOWED,
    "This page cannot be opened",
    "This address cannot be used in that way.",
    RecoveryLink::Section,
);

const NOT_FOUND: ErrorCode = ErrorCode::new(
    "not_found",
    StatusCode::NOT_FOUND,
    "Page not found",
    "There is no such page here.",
    RecoveryLink::Section,
)
.meaning("There is nothing at this address.");

const TOO_LARGE: ErrorCode = ErrorCode::new(
    "too_large",
    StatusCode::PAYLOAD_TOO_LARGE,
    "Too large",
    "That is more than this address accepts.",
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
.meaning("The body has to come as application/json.");

/// By their names.
pub(in crate::web) const CODES: [ErrorCode; 59] = [
    ErrorCode::new(
        "admin_off",
        StatusCode::FORBIDDEN,
        "The console is closed",
        "No ADMIN_TOKEN is set on this server, so nobody can sign in.",
        RecoveryLink::Arena,
    )
    .meaning("No `ADMIN_TOKEN` is set, so the admin’s side is closed."),
    ErrorCode::new(
        "all_voted",
        StatusCode::CONFLICT,
        "You have seen every pair",
        "There is no pair left that you have not seen.",
        RecoveryLink::Leaderboard,
    ),
    ErrorCode::new(
        "already_voted",
        StatusCode::CONFLICT,
        "You have already voted",
        "You have voted on this matchup already, and that vote stands.",
        RecoveryLink::Arena,
    ),
    ErrorCode::new(
        "bad_choice",
        StatusCode::BAD_REQUEST,
        "Vote not understood",
        "A choice is A, B, TIE or BOTH_BAD.",
        RecoveryLink::Arena,
    ),
    ErrorCode::new(
        "bad_file",
        StatusCode::BAD_REQUEST,
        "File not readable",
        "This file of another tool is broken, or of a kind that is not supported.",
        RecoveryLink::Sandbox,
    ),
    ErrorCode::new(
        "bad_json",
        StatusCode::BAD_REQUEST,
        "No JSON found",
        "It holds no JSON that can be read.",
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
    .meaning("What it holds is no spec; the place is told."),
    ErrorCode::new(
        "bad_token",
        StatusCode::UNAUTHORIZED,
        "Wrong token",
        "That is not the admin’s token.",
        RecoveryLink::SignIn,
    ),
    ErrorCode::new(
        "body_cut_off",
        StatusCode::BAD_REQUEST,
        "Upload cut off",
        "The body ended before it was whole.",
        RecoveryLink::Section,
    ),
    ErrorCode::new(
        "body_stalled",
        StatusCode::REQUEST_TIMEOUT,
        "Upload stalled",
        "The body stopped coming.",
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
        "There is a lot to do right now. Please try again in a moment.",
        RecoveryLink::TryAgain,
    )
    .meaning("There is a lot to do right now. `Retry-After` says when to try again."),
    CROSS_SITE,
    ErrorCode::new(
        "does_not_fit",
        StatusCode::BAD_REQUEST,
        "This build does not fit",
        "This file of another tool is larger than the grid.",
        RecoveryLink::Sandbox,
    ),
    ErrorCode::new(
        "ended",
        StatusCode::CONFLICT,
        "This job has ended",
        "The job has ended already.",
        RecoveryLink::Console,
    ),
    ErrorCode::new(
        "equal_models",
        StatusCode::BAD_REQUEST,
        "Choose two different models",
        "Both sides name the same model.",
        RecoveryLink::Sandbox,
    ),
    ErrorCode::new(
        "exists",
        StatusCode::CONFLICT,
        "This build already exists",
        "There is a build of this prompt by this model already.",
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
        "A build of this run is not there any more.",
        RecoveryLink::Sandbox,
    ),
    ErrorCode::new(
        "height_too_small",
        StatusCode::UNPROCESSABLE_ENTITY,
        "This build is too low",
        "The build is not high enough.",
        RecoveryLink::Sandbox,
    ),
    INTERNAL,
    ErrorCode::new(
        "matchup_over",
        StatusCode::GONE,
        "This matchup is over",
        "It was skipped, or its half hour has passed.",
        RecoveryLink::Arena,
    ),
    METHOD_NOT_ALLOWED,
    ErrorCode::new(
        "no_blocks",
        StatusCode::UNPROCESSABLE_ENTITY,
        "This build is empty",
        "There are no blocks.",
        RecoveryLink::Sandbox,
    ),
    ErrorCode::new(
        "no_build",
        StatusCode::NOT_FOUND,
        "Build not found",
        "There is no such build.",
        RecoveryLink::Builds,
    ),
    ErrorCode::new(
        "no_draft",
        StatusCode::NOT_FOUND,
        "Build not found",
        "There is no such build in the sandbox, or its time is over.",
        RecoveryLink::Sandbox,
    ),
    ErrorCode::new(
        "no_job",
        StatusCode::NOT_FOUND,
        "Job not found",
        "There is no such job.",
        RecoveryLink::Console,
    ),
    ErrorCode::new(
        "no_key",
        StatusCode::CONFLICT,
        "This model cannot be asked",
        "There is no API key for the model’s provider.",
        RecoveryLink::Console,
    ),
    ErrorCode::new(
        "no_model",
        StatusCode::NOT_FOUND,
        "Model not found",
        "There is no such model.",
        RecoveryLink::Leaderboard,
    ),
    ErrorCode::new(
        "no_prompt",
        StatusCode::NOT_FOUND,
        "Prompt not found",
        "There is no such prompt.",
        RecoveryLink::Prompts,
    ),
    ErrorCode::new(
        "no_run",
        StatusCode::NOT_FOUND,
        "Run not found",
        "There is no such run: it was deleted, or its thirty days are over.",
        RecoveryLink::Sandbox,
    ),
    ErrorCode::new(
        "no_such_matchup",
        StatusCode::NOT_FOUND,
        "Matchup not found",
        "There is no such matchup, or it was served to somebody else.",
        RecoveryLink::Arena,
    ),
    ErrorCode::new(
        "no_such_prompt",
        StatusCode::NOT_FOUND,
        "Prompt not found",
        "There is no such prompt.",
        RecoveryLink::Prompts,
    ),
    ErrorCode::new(
        "no_token",
        StatusCode::UNAUTHORIZED,
        "Sign in to continue",
        "This is for admins.",
        RecoveryLink::SignIn,
    )
    .meaning("Send the token as `Authorization: Bearer`, or sign in at /admin."),
    ErrorCode::new(
        "not_exported",
        StatusCode::UNPROCESSABLE_ENTITY,
        "Export not possible",
        "The build does not fit into that format.",
        RecoveryLink::Builds,
    )
    .meaning("The build does not fit into that format; the reason is told."),
    NOT_FOUND,
    ErrorCode::new(
        "not_one_run",
        StatusCode::BAD_REQUEST,
        "These builds do not belong together",
        "The two builds are not of one run.",
        RecoveryLink::Sandbox,
    ),
    ErrorCode::new(
        "not_ready",
        StatusCode::SERVICE_UNAVAILABLE,
        "Not ready yet",
        "The database does not answer, or is not of this version.",
        RecoveryLink::TryAgain,
    ),
    ErrorCode::new(
        "not_seeded",
        StatusCode::CONFLICT,
        "Nothing to compare yet",
        "A matchup needs builds of one prompt by two models.",
        RecoveryLink::Builds,
    ),
    ErrorCode::new(
        "not_yours",
        StatusCode::FORBIDDEN,
        "This run belongs to another browser",
        "Only the browser that keeps a run can change it.",
        RecoveryLink::Sandbox,
    ),
    ErrorCode::new(
        "nothing_to_read",
        StatusCode::CONFLICT,
        "Nothing to read again",
        "Only a failed job whose place is still empty is read again.",
        RecoveryLink::Console,
    ),
    ErrorCode::new(
        "rate_limited",
        StatusCode::TOO_MANY_REQUESTS,
        "Too many requests",
        "You sent too many requests in a short time. Please wait a moment.",
        RecoveryLink::TryAgain,
    )
    .meaning("You sent too many requests in a short time. `Retry-After` says when to go on."),
    ErrorCode::new(
        "retired",
        StatusCode::CONFLICT,
        "Already retired",
        "That build is retired already.",
        RecoveryLink::Console,
    ),
    ErrorCode::new(
        "text_is_fixed",
        StatusCode::CONFLICT,
        "This prompt cannot be changed",
        "The prompt has builds, and its text stays as it is.",
        RecoveryLink::Console,
    ),
    ErrorCode::new(
        "timed_out",
        StatusCode::SERVICE_UNAVAILABLE,
        "This took too long",
        "It took too long. What changes something goes on, and may be done later; all else was stopped.",
        RecoveryLink::TryAgain,
    ),
    ErrorCode::new(
        "too_few_blocks",
        StatusCode::UNPROCESSABLE_ENTITY,
        "This build is too small",
        "It has too few blocks.",
        RecoveryLink::Sandbox,
    ),
    TOO_LARGE,
    ErrorCode::new(
        "too_many_blocks",
        StatusCode::UNPROCESSABLE_ENTITY,
        "This build is too large",
        "It has more blocks than the grid may hold.",
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
        "You keep a hundred runs already; delete one first.",
        RecoveryLink::Sandbox,
    ),
    ErrorCode::new(
        "too_many_runs",
        StatusCode::TOO_MANY_REQUESTS,
        "Too many runs at once",
        "Several runs of yours are under way.",
        RecoveryLink::Sandbox,
    ),
    ErrorCode::new(
        "too_much_work",
        StatusCode::BAD_REQUEST,
        "This build is too large",
        "It would write too many blocks.",
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
        "You asked several times at once.",
        RecoveryLink::TryAgain,
    ),
    ErrorCode::new(
        "under_way",
        StatusCode::CONFLICT,
        "Already in progress",
        "It is being made already.",
        RecoveryLink::Console,
    ),
    ErrorCode::new(
        "unknown_model",
        StatusCode::BAD_REQUEST,
        "Unknown model",
        "There is no such model or provider here, or it cannot be asked.",
        RecoveryLink::Sandbox,
    ),
    ErrorCode::new(
        "unsupported_encoding",
        StatusCode::UNSUPPORTED_MEDIA_TYPE,
        "Format not supported",
        "A body may be plain or gzipped, not encoded otherwise.",
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
