//! What a request to the sandbox may say, and what it means.

use serde::Deserialize;
use utoipa::ToSchema;

use crate::generate::Secret;
use crate::sandbox::SandboxSlot;
use crate::web::{Error, ErrorCode};
use voxel::{GridSize, Palette};

/// No field of a model may be longer.
const MAX_FIELD_BYTES: usize = 400;

/// A prompt, settings, and two models.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = Wanted)]
pub(super) struct GenerateRequest {
    /// At most 800 characters.
    #[schema(example = "a steam locomotive")]
    pub prompt: String,
    pub grid_size: GridSize,
    pub palette: Palette,
    /// The keys of two models of the catalog, which use this server’s API keys.
    #[serde(default)]
    model_keys: Option<Vec<String>>,
    /// Or any two models.
    #[serde(default)]
    models: Option<Vec<RequestedModel>>,
    /// Runs only this side, for example to try again.
    #[serde(default)]
    #[schema(inline)]
    pub only: Option<SandboxSlot>,
}

/// A model: one of the catalog by its `key`, or `model` at a `provider` of the catalog or at a `baseUrl` that speaks
/// chat completions; or an `agent` by its address, which is asked over the A2A protocol. `apiKey` is used for this request
/// only and never stored.
#[derive(Clone, Default, Deserialize, ToSchema)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = NamedModel)]
struct RequestedModel {
    key: Option<String>,
    provider: Option<String>,
    base_url: Option<String>,
    model: Option<String>,
    agent: Option<String>,
    api_key: Option<String>,
}

/// The model of a side, and the visitor's own API key for it.
pub(super) struct ModelChoice {
    pub source: ModelSource,
    pub secret: Option<Secret>,
}

#[derive(PartialEq, Eq)]
pub(super) enum ModelSource {
    Catalog(String),
    Provider { provider: String, model: String },
    Endpoint { address: String, model: String },
    Agent { address: String },
}

impl GenerateRequest {
    pub fn choices(&self) -> Result<[ModelChoice; 2], Error> {
        let by_key = |key: &String| RequestedModel { key: Some(key.clone()), ..RequestedModel::default() };
        let named: Vec<RequestedModel> = match (&self.model_keys, &self.models) {
            (Some(keys), None) => keys.iter().map(by_key).collect(),
            (None, Some(models)) => models.clone(),
            _ => return Err(Error::bad_request("Send either modelKeys or models.")),
        };
        let two: [RequestedModel; 2] = named
            .try_into()
            .map_err(|_| Error::bad_request("Send exactly two models, one for each side."))?;
        let [a, b] = two.map(RequestedModel::read);
        let (a, b) = (a?, b?);
        if a.source == b.source {
            return Err(ErrorCode::EqualModels.into());
        }
        Ok([a, b])
    }
}

impl ModelChoice {
    /// Whether it uses an API key of this server, if the provider needs one.
    pub fn uses_server_key(&self) -> bool {
        self.secret.is_none() && matches!(self.source, ModelSource::Catalog(_))
    }
}

impl RequestedModel {
    fn read(self) -> Result<ModelChoice, Error> {
        let fields = [&self.key, &self.provider, &self.base_url, &self.model, &self.agent];
        let is_valid = |field: &String| {
            field.len() <= MAX_FIELD_BYTES
                && !field.trim().is_empty()
                && !field.trim().contains(char::is_control)
        };
        let key_fits = self.api_key.as_ref().is_none_or(|key| key.len() <= MAX_FIELD_BYTES);
        if !key_fits || !fields.into_iter().flatten().all(is_valid) {
            return Err(Error::bad_request(format!(
                "Each field of a model needs 1 to {MAX_FIELD_BYTES} characters, without control characters."
            )));
        }
        // Forms send an empty field for no key.
        let secret = self.api_key.as_deref().map(str::trim).filter(|key| !key.is_empty()).map(Secret::new);
        let [key, provider, base_url, model, agent] =
            fields.map(|field| field.as_deref().map(|text| text.trim().to_owned()));
        let source = match (key, provider, base_url, model, agent) {
            (Some(key), None, None, None, None) => ModelSource::Catalog(key),
            (None, Some(provider), None, Some(model), None) => ModelSource::Provider { provider, model },
            (None, None, Some(address), Some(model), None) => ModelSource::Endpoint { address, model },
            (None, None, None, None, Some(address)) => ModelSource::Agent { address },
            _ => {
                let message = "Name a model by key, or by model and provider, or by model and baseUrl; or an agent \
                    by its address.";
                return Err(Error::bad_request(message));
            }
        };
        Ok(ModelChoice { source, secret })
    }
}
