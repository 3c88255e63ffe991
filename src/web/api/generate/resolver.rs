//! Which models a visitor can use, and with whose API key.

use std::net::IpAddr;

use axum::http::HeaderMap;
use axum::http::header::HOST;

use super::request::{ModelChoice, ModelSource};
use crate::app::App;
use crate::arena::ModelKey;
use crate::arena::catalog::{self, ListedModel, Model, REFERENCE};
use crate::config::ServerKeyAccess;
use crate::generate::{Endpoint, EndpointError, ProviderKind, RequestLimits, Secret, provider};
use crate::outbound;
use crate::sandbox::{SandboxContestant, SandboxTarget, TargetError};
use crate::web::filters::capitalised;
use crate::web::{Error, ErrorCode};

/// Whether this visitor may use the server's own API keys. A visitor counts as this machine if the `Host` is
/// `localhost` or a loopback address. That excludes other machines, pages of other sites whose name was rebound to a
/// loopback address, and visitors of a proxy.
pub(in crate::web) fn lends_keys(app: &App, headers: &HeaderMap) -> bool {
    match app.config.sandbox.server_keys {
        ServerKeyAccess::Nobody => false,
        ServerKeyAccess::Everybody => true,
        ServerKeyAccess::ThisMachine => {
            let is_direct =
                ["x-forwarded-for", "forwarded", "via"].iter().all(|name| !headers.contains_key(*name));
            let host = headers.get(HOST).and_then(|host| host.to_str().ok());
            is_direct && host.is_some_and(is_this_machine)
        }
    }
}

fn is_this_machine(host: &str) -> bool {
    let name = host.rsplit_once(':').filter(|(_, port)| port.bytes().all(|digit| digit.is_ascii_digit()));
    let name = name.map_or(host, |(name, _)| name).trim_matches(['[', ']']);
    name.eq_ignore_ascii_case("localhost")
        || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// Resolves the models that a visitor chooses.
pub(super) struct ContestantResolver<'a> {
    pub app: &'a App,
    pub lends_keys: bool,
}

impl ContestantResolver<'_> {
    /// The model of a side. An unknown model is an error of the request; a model that cannot be used, for example for
    /// lack of a key, is a failure of its side alone.
    pub async fn contestant(
        &self,
        listed: &[ListedModel],
        choice: ModelChoice,
    ) -> Result<SandboxContestant, Error> {
        let ModelChoice { source, secret } = choice;
        match source {
            ModelSource::Catalog(key) => self.of_catalog(listed, &key, secret),
            ModelSource::Provider { provider, model } => {
                let known = self.app.worker.providers().known().iter().find(|known| known.key == provider);
                let known =
                    known.ok_or_else(|| unknown_model(format!("The provider {provider} does not exist.")))?;
                let name = format!("{provider}:{model}");
                Ok(SandboxContestant { name, target: self.at_provider(known, model, secret) })
            }
            ModelSource::Endpoint { address, model } => Ok(self.at_endpoint(&address, model, secret).await),
        }
    }

    fn of_catalog(
        &self,
        listed: &[ListedModel],
        key: &str,
        secret: Option<Secret>,
    ) -> Result<SandboxContestant, Error> {
        let known = key.parse::<ModelKey>().ok();
        let model =
            known.and_then(|key| listed.iter().find(|listed| listed.enabled && listed.model.key == key));
        let model = &model.ok_or_else(|| unknown_model(format!("The model {key} does not exist.")))?.model;
        if model.provider == REFERENCE {
            let message = format!("{} is a reference model, and cannot generate builds.", model.display_name);
            return Err(unknown_model(message));
        }
        let target = match secret {
            None => self.with_server_key(model),
            Some(secret) => match route_for_visitors(self.app, model, self.lends_keys) {
                Some((known, name)) => self
                    .at_provider(known, name.to_owned(), Some(secret))
                    .map(|target| SandboxTarget { options: model.options, ..target }),
                None => Err(self.no_key()),
            },
        };
        Ok(SandboxContestant { name: key.to_owned(), target })
    }

    fn with_server_key(&self, model: &Model) -> Result<SandboxTarget, TargetError> {
        let providers = self.app.worker.providers();
        let route = providers.route(model).filter(|_| self.lends_keys);
        let open =
            route.and_then(|(provider, name)| Some((providers.get(provider)?.clone(), name.to_owned())));
        let (provider, name) = open.ok_or_else(|| self.no_key())?;
        Ok(SandboxTarget { provider, model: name, options: model.options })
    }

    fn at_provider(
        &self,
        known: &catalog::Provider,
        model: String,
        secret: Option<Secret>,
    ) -> Result<SandboxTarget, TargetError> {
        if !takes_visitors(known, self.lends_keys) {
            return Err(self.no_key());
        }
        if secret.is_none() {
            let own = self.app.worker.providers().get(&known.key).filter(|_| self.lends_keys);
            let provider = own.ok_or_else(|| self.no_key())?.clone();
            return Ok(SandboxTarget { provider, model, options: catalog::ModelOptions::default() });
        }
        let endpoint =
            Endpoint { provider: known.kind, base_url: known.base_url.clone(), key: secret, pinned: None };
        target(self.app, &endpoint, model)
    }

    async fn at_endpoint(&self, address: &str, model: String, secret: Option<Secret>) -> SandboxContestant {
        let resolved = match outbound::resolve(address, self.app.config.sandbox.local).await {
            Ok(resolved) => resolved,
            Err(refused) => {
                let target = Err(TargetError {
                    code: "address_refused",
                    message: capitalised(&refused.to_string()) + ".",
                });
                return SandboxContestant { name: model, target };
            }
        };
        let name = format!("{}:{model}", resolved.pinned.host);
        let endpoint = Endpoint {
            provider: ProviderKind::Compatible,
            base_url: resolved.base_url,
            key: secret,
            pinned: Some(resolved.pinned),
        };
        SandboxContestant { name, target: target(self.app, &endpoint, model) }
    }

    fn no_key(&self) -> TargetError {
        let message = match self.lends_keys {
            true => "This server has no API key for this model. Enter your own.",
            false => "Visitors cannot use this server’s API keys. Enter your own.",
        };
        TargetError { code: "no_key", message: message.to_owned() }
    }
}

/// Whether visitors can use a provider. A provider that needs no key is most likely a machine of the operator.
pub(in crate::web) fn takes_visitors(known: &catalog::Provider, lends_keys: bool) -> bool {
    known.key_variable.is_some() || lends_keys
}

/// The provider that serves a model to visitors, and its model id there.
pub(in crate::web) fn route_for_visitors<'a>(
    app: &'a App,
    model: &'a Model,
    lends_keys: bool,
) -> Option<(&'a catalog::Provider, &'a str)> {
    let known = app.worker.providers().known();
    model.routes().find_map(|(provider, name)| {
        let known = known.iter().find(|known| known.key == provider && takes_visitors(known, lends_keys))?;
        Some((known, name))
    })
}

fn target(app: &App, endpoint: &Endpoint, model: String) -> Result<SandboxTarget, TargetError> {
    let max_bytes = app.config.check_max_bytes.min(app.config.generation.answer_max_bytes);
    let limits = RequestLimits { max_bytes, ..RequestLimits::interactive() };
    // Responses of an endpoint that a visitor chose are not logged.
    let provider = provider(endpoint, limits, false).map_err(|error| {
        let code = if matches!(error, EndpointError::BadKey) { "bad_key" } else { "address_refused" };
        TargetError { code, message: capitalised(&error.to_string()) + "." }
    })?;
    Ok(SandboxTarget { provider, model, options: catalog::ModelOptions::default() })
}

fn unknown_model(message: String) -> Error {
    Error::new(ErrorCode::UnknownModel, message)
}
