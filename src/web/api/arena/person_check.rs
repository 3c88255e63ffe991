//! `POST /api/arena/person-check`, and what a voter is told about the check.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::vote_rejection::VoteRejectedResponse;
use crate::app::App;
use crate::config::CaptchaService;
use crate::limits::LimitedAction;
use crate::person_check::PersonCheck;
use crate::web::derived::NO_STORE;
use crate::web::openapi::codes;
use crate::web::voter::Visitor;
use crate::web::{Error, ErrorCode};

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(person_check))
}

/// The check that a voter is a person.
#[derive(Serialize, ToSchema)]
#[serde(tag = "kind", rename_all = "lowercase", rename_all_fields = "camelCase")]
#[schema(as = PersonCheck)]
pub(in crate::web::api) enum PersonCheckView {
    /// A proof of work. The answer is any text of at most 55 bytes that begins with the challenge, and whose SHA-256
    /// begins with this many zero bits. A challenge is for one voter, for an hour.
    Work {
        #[schema(example = "AAAAAGjtYqAq3RXJ8yTzVbYl0fJkN2hc")]
        challenge: String,
        #[schema(example = 17)]
        bits: u32,
    },
    /// The answer is a token from Cloudflare Turnstile.
    Turnstile { site_key: String },
    /// The answer is a token from hCaptcha.
    Hcaptcha { site_key: String },
}

impl From<PersonCheck> for PersonCheckView {
    fn from(check: PersonCheck) -> Self {
        match check {
            PersonCheck::Work { challenge, bits } => Self::Work { challenge, bits },
            PersonCheck::Captcha { service: CaptchaService::Turnstile, site_key } => {
                Self::Turnstile { site_key }
            }
            PersonCheck::Captcha { service: CaptchaService::Hcaptcha, site_key } => {
                Self::Hcaptcha { site_key }
            }
        }
    }
}

/// What a voter has to do first.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = CheckFirst)]
pub(in crate::web::api) struct PersonCheckRequiredView {
    person_check: PersonCheckView,
}

impl From<PersonCheck> for PersonCheckRequiredView {
    fn from(check: PersonCheck) -> Self {
        Self { person_check: check.into() }
    }
}

#[derive(Deserialize, ToSchema)]
#[schema(as = PersonCheckAnswer)]
struct PersonCheckRequest {
    /// What the kind of check asks for.
    #[schema(example = "AAAAAGjtYqAq3RXJ8yTzVbYl0fJkN2hc90331")]
    answer: String,
}

/// Pass the check that you are a person
///
/// Answers the `personCheck` of a matchup or of a rejected vote. A voter who has passed is not asked again, except where
/// the server has doubts.
#[utoipa::path(
    post, path = "/api/arena/person-check", tag = "Arena", operation_id = "personCheck",
    responses(
        (status = NO_CONTENT, description = "The check is passed, or none is due."),
        (status = FORBIDDEN, description = "The answer is wrong, has been used, or came too late \
            (`person_check_failed`). `personCheck` says what to do instead.",
            body = inline(VoteRejectedResponse<PersonCheckRequiredView>)),
    ),
    extensions(("x-errors" = json!(codes([ErrorCode::RateLimited])))),
    security(("session" = [])),
)]
async fn person_check(
    State(app): State<App>,
    visitor: Visitor,
    Json(request): Json<PersonCheckRequest>,
) -> Result<Response, Error> {
    let Some(voter) = visitor.voter().await? else {
        return Err(Error::bad_request(
            "Ask for a matchup first. It opens the session that the check belongs to.",
        ));
    };
    visitor.check_limit(&app, LimitedAction::PersonCheck, Some(voter))?;
    Ok(match app.person_checks.judge(voter, &request.answer).await? {
        None => StatusCode::NO_CONTENT.into_response(),
        Some(check) => rejection_response(ErrorCode::PersonCheckFailed, check),
    })
}

/// The answer to a voter who has to pass the check first.
pub(in crate::web::api) fn rejection_response(code: ErrorCode, check: PersonCheck) -> Response {
    let body = VoteRejectedResponse::new(code, PersonCheckRequiredView::from(check));
    (code.status(), [NO_STORE], Json(body)).into_response()
}
