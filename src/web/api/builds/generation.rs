//! How a build was generated, as the API and its page show it.

use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use crate::arena::generations::Generation;
use crate::arena::jobs::attempts::SentOptions;
use crate::generate::ModelOptions;
use crate::web::api::admin::jobs::dollars;
use crate::web::openapi::shapes;

/// How a model was asked for a build. What is null is not known, as for builds of older versions.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Generation)]
pub(in crate::web) struct GenerationView {
    /// The provider that was asked.
    #[schema(example = "openai")]
    pub provider: String,
    /// The provider’s name for the model.
    #[schema(required, example = "gpt-5.2-pro")]
    pub model_id: Option<String>,
    /// The options that were asked for.
    #[schema(value_type = Option<shapes::OptionsSchema>)]
    pub options: Option<ModelOptions>,
    /// The options that the answered request was sent with.
    #[schema(value_type = Option<shapes::SentOptionsSchema>)]
    pub sent: Option<SentOptions>,
    /// The SHA-256, in hexadecimal, of what the model was told beside the prompt. Equal digests mean equal words.
    #[schema(required)]
    pub template: Option<String>,
    /// Tokens and cost are those of all attempts together.
    #[schema(required, example = 4100)]
    pub tokens_in: Option<i64>,
    /// The part of the input that the provider read from its cache.
    #[schema(required)]
    pub tokens_cached: Option<i64>,
    #[schema(required, example = 15200)]
    pub tokens_out: Option<i64>,
    #[schema(required, example = 9000)]
    pub tokens_reasoning: Option<i64>,
    /// In dollars.
    #[schema(required, example = 0.24)]
    pub cost: Option<f64>,
    /// Whether it may have cost more.
    pub cost_is_minimum: bool,
    /// How the request was changed because the provider did not take it as it was; `batch` if it was sent in a batch.
    pub changes: Vec<Value>,
}

impl GenerationView {
    /// Without the provider's words, which can name the account.
    pub fn of(generation: Generation) -> Self {
        let notes = generation.notes.0.as_array().into_iter().flatten();
        Self {
            provider: generation.provider,
            model_id: generation.model_id,
            options: generation.options.map(|options| options.0),
            sent: generation.sent.map(|sent| sent.0),
            template: generation.template.map(hex::encode),
            tokens_in: generation.input_tokens,
            tokens_cached: generation.cached_tokens,
            tokens_out: generation.output_tokens,
            tokens_reasoning: generation.reasoning_tokens,
            cost: generation.cost.map(dollars),
            cost_is_minimum: generation.cost_is_minimum,
            changes: notes.map(|note| note["step"].clone()).collect(),
        }
    }
}
