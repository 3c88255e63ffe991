//! The answer to a vote or a judgement that is not taken, where it holds more than an error does.

use serde::Serialize;
use utoipa::ToSchema;

use crate::web::ErrorCode;

#[derive(Serialize, ToSchema)]
#[schema(as = Refused)]
pub(in crate::web::api) struct VoteRejectedResponse<T> {
    /// What went wrong, as a sentence for people.
    error: &'static str,
    /// The same for programs.
    code: &'static str,
    #[serde(flatten)]
    body: T,
}

impl<T> VoteRejectedResponse<T> {
    pub fn new(code: ErrorCode, body: T) -> Self {
        Self { error: code.sentence(), code: code.name(), body }
    }
}
