//! Which models a visitor can use, and with whose API key.

use std::net::IpAddr;
use std::sync::Arc;

use axum::http::HeaderMap;

use super::request::{ModelChoice, ModelSource};
use crate::app::App;
use crate::arena::ModelKey;
use crate::arena::catalog::{self, ListedModel, Model, REFERENCE};
use crate::config::ServerKeyAccess;
use crate::generate::a2a::agent_address;
use crate::generate::{Endpoint, EndpointError, ProviderKind, Providers, RequestLimits, Secret, provider};
use crate::outbound::{self, OutboundRefused};
use crate::sandbox::{KeyLoan, SandboxContestant, SandboxTarget, TargetError};
use crate::web::filters::capitalised;
use crate::web::this_machine::{has_local_origin, is_at_this_machine};
use crate::web::{Error, ErrorCode};

/// Whether a page can offer the server's own API keys.
pub(in crate::web) fn offers_keys(app: &App, headers: &HeaderMap, peer: IpAddr) -> bool {
    match app.config.sandbox.server_keys {
        ServerKeyAccess::Nobody => false,
        ServerKeyAccess::Everybody => true,
        ServerKeyAccess::ThisMachine => is_at_this_machine(app, headers, peer),
    }
}

/// Whether a request may use the server's own API keys, which costs money.
pub(super) fn lends_keys(app: &App, headers: &HeaderMap, peer: IpAddr) -> bool {
    offers_keys(app, headers, peer)
        && (app.config.sandbox.server_keys == ServerKeyAccess::Everybody || has_local_origin(headers))
}

/// Resolves the models that a visitor chooses.
pub(super) struct ContestantResolver<'a> {
    pub app: &'a App,
    /// The server's own keys, if this run may use them.
    pub loan: Option<Arc<KeyLoan>>,
    /// Whether agents may be at private addresses.
    pub allows_private_agents: bool,
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
                let providers = self.app.worker.providers();
                let known = providers.known().iter().find(|known| known.key == provider);
                let known =
                    known.ok_or_else(|| unknown_model(format!("The provider {provider} does not exist.")))?;
                let name = format!("{provider}:{model}");
                Ok(SandboxContestant { name, target: self.at_provider(known, model, secret) })
            }
            ModelSource::Endpoint { address, model } => Ok(self.at_endpoint(&address, model, secret).await),
            ModelSource::Agent { address } => Ok(self.agent(&address, secret).await),
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
            Some(secret) => match route_for_visitors(&self.app.worker.providers(), model) {
                Some((known, name)) => self
                    .at_provider(known, name.to_owned(), Some(secret))
                    .map(|target| SandboxTarget { options: model.options, ..target }),
                None => Err(self.no_key()),
            },
        };
        Ok(SandboxContestant { name: key.to_owned(), target })
    }

    fn with_server_key(&self, model: &Model) -> Result<SandboxTarget, TargetError> {
        let loan = self.loan.as_ref().ok_or_else(|| self.no_key())?;
        let providers = self.app.worker.providers();
        let (known, name) = lent_route(&providers, model).ok_or_else(|| self.no_key())?;
        let provider = providers.get(&known.key).ok_or_else(|| self.no_key())?.clone();
        let provider = loan.lend(provider, model.key.clone(), model.prices, known.key_variable.is_some());
        Ok(SandboxTarget { provider, model: name.to_owned(), options: model.options })
    }

    /// Any model at a provider. The server's own keys are lent for models of the catalog alone, whose prices and limits
    /// are known.
    fn at_provider(
        &self,
        known: &catalog::Provider,
        model: String,
        secret: Option<Secret>,
    ) -> Result<SandboxTarget, TargetError> {
        if secret.is_none() || !takes_visitors(known) {
            return Err(match self.loan {
                Some(_) => {
                    no_key("This server’s API keys are for the models in the list. Enter your own key.")
                }
                None => self.no_key(),
            });
        }
        let endpoint =
            Endpoint { provider: known.kind, base_url: known.base_url.clone(), key: secret, pinned: None };
        target(self.app, &endpoint, model)
    }

    async fn at_endpoint(&self, address: &str, model: String, secret: Option<Secret>) -> SandboxContestant {
        let resolved = match outbound::resolve(address, self.app.config.sandbox.local).await {
            Ok(resolved) => resolved,
            Err(refused) => return SandboxContestant { name: model, target: Err(refused_address(refused)) },
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

    /// An agent by its address, which is also its name.
    async fn agent(&self, address: &str, secret: Option<Secret>) -> SandboxContestant {
        let resolved = match agent_address(address) {
            Ok(address) => outbound::resolve(&address, self.allows_private_agents).await,
            Err(refused) => Err(refused),
        };
        let resolved = match resolved {
            Ok(resolved) => resolved,
            Err(refused) => {
                return SandboxContestant { name: "agent".to_owned(), target: Err(refused_address(refused)) };
            }
        };
        let name = outbound::host_and_port(&resolved.base_url).unwrap_or_default();
        let endpoint = Endpoint {
            provider: ProviderKind::A2a,
            base_url: resolved.base_url,
            key: secret,
            pinned: Some(resolved.pinned),
        };
        SandboxContestant { name, target: target(self.app, &endpoint, "agent".to_owned()) }
    }

    fn no_key(&self) -> TargetError {
        no_key(match self.loan {
            Some(_) => "This server has no API key for this model. Enter your own.",
            None => "Visitors cannot use this server’s API keys. Enter your own.",
        })
    }
}

fn refused_address(refused: OutboundRefused) -> TargetError {
    TargetError { code: "address_refused", message: capitalised(&refused.to_string()) + "." }
}

fn no_key(message: &str) -> TargetError {
    TargetError { code: "no_key", message: message.to_owned() }
}

/// Whether visitors can use a provider with a key of their own. A provider that needs no key is most likely a machine of
/// the operator, and is lent like a key.
pub(in crate::web) fn takes_visitors(known: &catalog::Provider) -> bool {
    known.key_variable.is_some() && known.kind != ProviderKind::A2a
}

/// The provider that serves a model to visitors with a key of their own, and its model id there.
pub(in crate::web) fn route_for_visitors<'a>(
    providers: &'a Providers,
    model: &'a Model,
) -> Option<(&'a catalog::Provider, &'a str)> {
    let known = providers.known();
    model.routes().find_map(|(provider, name)| {
        Some((known.iter().find(|known| known.key == provider && takes_visitors(known))?, name))
    })
}

/// The provider that serves a model with the server's own key or without any, and its model id there.
pub(in crate::web) fn lent_route<'a>(
    providers: &'a Providers,
    model: &'a Model,
) -> Option<(&'a catalog::Provider, &'a str)> {
    let (provider, name) = providers.route(model)?;
    Some((providers.known().iter().find(|known| known.key == provider)?, name))
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
