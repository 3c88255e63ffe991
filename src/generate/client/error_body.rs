//! What providers send instead of an answer, in its many shapes.

use std::time::Duration;

use reqwest::StatusCode;
use serde_json::Value;

use super::super::error::Retry;
use super::super::{GenerateError, GenerateErrorKind};
use super::text::clip;

/// How many bytes of an error response are read.
pub(super) const MAX_ERROR_BODY: usize = 64 << 10;

/// The error that a JSON document describes, if it does.
pub(in super::super) fn parse_error(body: &str, status: Option<StatusCode>) -> Option<GenerateError> {
    ErrorBody::parse(body).map(|body| body.into_error(status))
}

/// The error of a body that is not JSON.
pub(super) fn from_text(message: String, status: StatusCode) -> GenerateError {
    ErrorBody::from_text(message).into_error(Some(status))
}

/// The error that stands in a stream: an object, or only its message.
pub(in super::super) fn provider_error(error: &Value) -> GenerateError {
    ErrorBody::from_value(error, error.as_str()).into_error(None)
}

#[derive(Debug, Default)]
struct ErrorBody {
    message: String,
    param: Option<String>,
    retry_after: Option<Duration>,
    /// Codes, types and reasons, in lower case.
    codes: Vec<String>,
    /// Some providers put the status into the body, in a stream for example.
    status: Option<u16>,
    is_json: bool,
}

impl ErrorBody {
    /// None for a document that does not look like an error, or is longer than any.
    fn parse(body: &str) -> Option<Self> {
        if body.len() > MAX_ERROR_BODY {
            return None;
        }
        let document: Value = serde_json::from_str(body).ok()?;
        let document = document.get(0).unwrap_or(&document);
        // MiniMax reports success or an error like this with every answer.
        if let Some(response) = document.get("base_resp").filter(|response| response["status_code"] != 0) {
            return Some(Self::from_value(response, None));
        }
        match document.get("error") {
            Some(Value::String(message)) => Some(Self::from_value(document, Some(message))),
            Some(error @ Value::Object(_)) => Some(Self::from_value(error, None)),
            _ => ["message", "msg", "detail"]
                .iter()
                .any(|key| document.get(key).is_some())
                .then(|| Self::from_value(document, None)),
        }
    }

    fn from_text(message: String) -> Self {
        Self { message, ..Self::default() }
    }

    fn from_value(error: &Value, message: Option<&str>) -> Self {
        let text = |key: &str| error.get(key).and_then(Value::as_str);
        let details = error.get("details").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let detail = |key: &str| details.iter().filter_map(|detail| detail.get(key)?.as_str()).next();
        let code = error.get("code");
        let number = |key: &str| error.get(key).filter(|code| code.is_number()).map(Value::to_string);
        let (number, status_code) = (number("code"), number("status_code"));
        let codes = [text("code"), text("type"), text("status"), detail("reason")];
        let codes = codes.into_iter().chain([number.as_deref(), status_code.as_deref()]);
        let said = ["message", "msg", "status_msg"].into_iter().find_map(text);
        let mut body = Self {
            message: message.or(said).unwrap_or("").to_owned(),
            param: text("param").map(str::to_owned),
            retry_after: detail("retryDelay").and_then(seconds),
            codes: codes.flatten().map(str::to_ascii_lowercase).collect(),
            status: code
                .and_then(|code| u16::try_from(code.as_u64()?).ok())
                .filter(|code| (400..600).contains(code)),
            is_json: true,
        };
        if body.message.is_empty() {
            body.message = error.get("detail").unwrap_or(error).to_string();
        }
        // OpenRouter repeats the message of the provider behind it here.
        if let Some(raw) = error.pointer("/metadata/raw").and_then(Value::as_str) {
            body.message = format!("{}: {raw}", body.message);
        }
        body.message = clip(&body.message, 4096);
        body
    }

    /// The providers agree on few codes, so their words decide as well, the most telling first.
    fn kind(&self, status: Option<u16>) -> GenerateErrorKind {
        use GenerateErrorKind::{
            BadAnswer, BadKey, BadRequest, Filtered, NoCredit, NoSuchModel, Overloaded, RateLimited,
        };
        let status = status.or(self.status).unwrap_or(0);
        let is_rate = status == 429 || self.has_code(&["resource_exhausted"]);
        // Messages about rate limits may mention billing details, too.
        let is_bill =
            self.message_contains(NO_CREDIT_PHRASES) || (!is_rate && self.message_contains(&["billing"]));
        if status == 402 || self.has_code(NO_CREDIT_CODES) || is_bill {
            return NoCredit;
        }
        if self.has_code(&["resource_exhausted"]) {
            return RateLimited;
        }
        if self.has_code(FILTERED_CODES) || self.message_contains(FILTERED_PHRASES) {
            return Filtered;
        }
        if self.has_code(&["model_not_found"])
            || (self.message_contains(&["model"]) && self.message_contains(NO_MODEL_PHRASES))
        {
            return NoSuchModel;
        }
        match status {
            401 | 403 => return BadKey,
            408 | 500.. => return Overloaded,
            429 => return RateLimited,
            404 if self.is_json => return NoSuchModel,
            404 | 405 => return BadAnswer,
            _ => {}
        }
        for (codes, kind) in [
            (BAD_KEY_CODES, BadKey),
            (RATE_LIMITED_CODES, RateLimited),
            (OVERLOADED_CODES, Overloaded),
            (&["not_found_error", "not_found"][..], NoSuchModel),
        ] {
            if self.has_code(codes) {
                return kind;
            }
        }
        if self.message_contains(&["api key not valid", "invalid api key", "incorrect api key"]) {
            return BadKey;
        }
        if self.is_json { BadRequest } else { BadAnswer }
    }

    /// `status` is that of the response, if the body is one of its own.
    fn into_error(self, status: Option<StatusCode>) -> GenerateError {
        let kind = self.kind(status.map(|status| status.as_u16()));
        let retry = self.retry_after.map_or(Retry::Unspecified, Retry::After);
        GenerateError { status, param: self.param, retry, ..GenerateError::new(kind, self.message) }
    }

    fn has_code(&self, codes: &[&str]) -> bool {
        self.codes.iter().any(|word| codes.contains(&word.as_str()))
    }

    fn message_contains(&self, phrases: &[&str]) -> bool {
        let message = self.message.to_lowercase();
        phrases.iter().any(|phrase| message.contains(phrase))
    }
}

const NO_CREDIT_CODES: &[&str] = &[
    "insufficient_quota",
    "insufficient_balance",
    "insufficient_balance_error",
    "insufficient_credits",
    "billing_error",
    "billing_not_active",
    "billing_hard_limit_reached",
    "exceeded_current_quota_error",
    "arrearage",
    "1008",
    "1113",
];

const NO_CREDIT_PHRASES: &[&str] = &[
    "credit balance",
    "insufficient balance",
    "insufficient credits",
    "more credits",
    "any credits",
    "available credits",
    "spending limit",
];

const FILTERED_CODES: &[&str] = &[
    "content_filter",
    "content_policy_violation",
    "invalid_prompt",
    "bio_policy",
    "misalignment_policy_violation",
    "moderation",
    "1026",
    "1027",
    "1301",
];

const FILTERED_PHRASES: &[&str] =
    &["flagged", "content filtering", "content exists risk", "usage policy", "sensitive content"];

const NO_MODEL_PHRASES: &[&str] = &[
    "not found",
    "does not exist",
    "not exist",
    "not a valid model",
    "unknown model",
    "invalid model",
    "no such model",
    "not have access to",
];

const BAD_KEY_CODES: &[&str] = &[
    "authentication_error",
    "permission_error",
    "invalid_api_key",
    "api_key_invalid",
    "unauthenticated",
    "permission_denied",
    "1004",
];

const RATE_LIMITED_CODES: &[&str] = &["rate_limit_error", "rate_limit_exceeded", "too_many_requests", "1002"];

const OVERLOADED_CODES: &[&str] = &[
    "overloaded_error",
    "api_error",
    "timeout_error",
    "server_error",
    "internal",
    "internal_error",
    "internal_server_error",
    "service_unavailable",
    "unavailable",
    "deadline_exceeded",
    "network_error",
    "insufficient_system_resource",
];

/// `37s`, or `37.8s`.
fn seconds(text: &str) -> Option<Duration> {
    Duration::try_from_secs_f64(text.strip_suffix('s')?.parse().ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Statuses, the kinds of error that they stand for, and the bodies that providers have sent with them.
    const WITH_STATUS: &str = r#"
401 bad_key {"error":{"message":"Incorrect API key provided","type":"invalid_request_error","code":"invalid_api_key"}}
401 bad_key {"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}
400 bad_key [{"error":{"code":400,"message":"API key not valid.","status":"INVALID_ARGUMENT","details":[{"reason":"API_KEY_INVALID"}]}}]
403 bad_key {"error":{"code":403,"message":"Generative Language API has not been used","status":"PERMISSION_DENIED"}}
403 filtered {"error":{"code":403,"message":"Your input was flagged","metadata":{"reasons":["violence"]}}}
404 no_such_model {"error":{"message":"The model `gpt-9` does not exist or you do not have access to it.","code":"model_not_found"}}
404 no_such_model {"type":"error","error":{"type":"not_found_error","message":"model: claude-9"}}
404 no_such_model {"error":"model 'qwen9' not found"}
400 no_such_model {"error":{"message":"gpt-9 is not a valid model ID","code":400}}
400 no_such_model {"error":{"message":"Model Not Exist","type":"invalid_request_error"}}
429 no_credit {"error":{"message":"You exceeded your current quota, please check your plan and billing details.","code":"insufficient_quota"}}
429 rate_limited {"error":{"code":429,"message":"You exceeded your current quota, please check your plan and billing details.","status":"RESOURCE_EXHAUSTED"}}
400 no_credit {"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the Anthropic API."}}
402 no_credit {"error":{"message":"Insufficient Balance"}}
429 no_credit {"code":"Some resource has been exhausted","error":"Your team has either used all available credits or reached its monthly spending limit."}
429 no_credit {"type":"error","error":{"type":"insufficient_balance_error","message":"insufficient balance (1008)"}}
500 no_credit {"error":{"type":"insufficient_balance_error","message":"please top up (1008)"}}
400 no_credit {"error":{"code":"Arrearage","message":"Access denied, please make sure your account is in good standing."}}
429 rate_limited {"error":{"message":"Rate limit exceeded: add 10 credits to unlock more, see billing."}}
402 no_credit {"type":"error","error":{"type":"billing_error","message":"pay"}}
429 no_credit {"error":{"code":"1113","message":"Insufficient balance or no resource package"}}
429 rate_limited {"error":{"message":"Rate limit reached for gpt-5.2","type":"tokens","code":"rate_limit_exceeded"}}
529 overloaded {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}
503 overloaded <html><title>503</title></html>
400 filtered {"error":{"message":"Content Exists Risk","type":"invalid_request_error"}}
400 bad_request {"object":"error","message":"top_k must be -1","type":"BadRequestError","code":400}
422 bad_request {"detail":[{"loc":["body"],"msg":"field required"}]}
413 bad_request {"type":"error","error":{"type":"request_too_large","message":"too large"}}
404 bad_answer 404 page not found
"#;

    /// In a stream, there is no status, but the body may name one.
    const IN_STREAMS: &str = r#"
overloaded {"error":{"code":502,"message":"Provider returned error"}}
overloaded {"error":{"type":"overloaded_error","message":"Overloaded"}}
overloaded {"type":"error","error":{"type":"api_error","message":"Internal server error"}}
rate_limited {"error":{"code":"rate_limit_exceeded","message":"slower"}}
overloaded {"error":{"code":"server_error","message":"sorry"}}
no_credit {"choices":null,"base_resp":{"status_code":1008,"status_msg":"insufficient balance"}}
bad_key {"base_resp":{"status_code":1004,"status_msg":"login fail"}}
bad_request {"detail":"not today"}
"#;

    #[test]
    fn complaints_are_told_apart_however_they_are_worded() {
        for line in WITH_STATUS.trim().lines() {
            let [status, kind, body] = line.splitn(3, ' ').collect::<Vec<_>>()[..] else { panic!("{line}") };
            let error = ErrorBody::parse(body).unwrap_or_else(|| ErrorBody::from_text(body.to_owned()));
            assert_eq!(error.kind(Some(status.parse().unwrap())).code(), kind, "{line}");
        }
    }

    #[test]
    fn a_complaint_in_a_stream_has_no_status_but_may_name_one() {
        for line in IN_STREAMS.trim().lines() {
            let (kind, body) = line.split_once(' ').unwrap();
            assert_eq!(ErrorBody::parse(body).unwrap().kind(None).code(), kind, "{line}");
        }
    }

    #[test]
    fn what_is_no_complaint_is_not_taken_for_one() {
        let long = format!(r#"{{"message":"{}"}}"#, "x".repeat(MAX_ERROR_BODY));
        for body in [r#"{"base_resp":{"status_code":0,"status_msg":""}}"#, r#"{"hello":1}"#, "[]", &long] {
            assert!(ErrorBody::parse(body).is_none());
        }
    }

    #[test]
    fn what_stands_deeper_is_found() {
        let body = r#"{"error":{"message":"quota","details":[{"@type":"…Help"},{"@type":"…RetryInfo","retryDelay":"37.5s"}]}}"#;
        assert_eq!(ErrorBody::parse(body).unwrap().retry_after, Some(Duration::from_millis(37_500)));

        let body = r#"{"error":{"code":400,"message":"Provider returned error","metadata":{"raw":"max_tokens: too large"}}}"#;
        assert_eq!(ErrorBody::parse(body).unwrap().message, "Provider returned error: max_tokens: too large");
    }
}
