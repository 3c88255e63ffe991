//! Which models a visitor can use, and with whose API key.

use std::net::IpAddr;
use std::sync::Arc;

use axum::http::HeaderMap;
use axum::http::header::{HOST, ORIGIN};

use super::request::{ModelChoice, ModelSource};
use crate::app::App;
use crate::arena::ModelKey;
use crate::arena::catalog::{self, ListedModel, Model, REFERENCE};
use crate::config::ServerKeyAccess;
use crate::generate::{Endpoint, EndpointError, ProviderKind, RequestLimits, Secret, provider};
use crate::outbound;
use crate::sandbox::{KeyLoan, SandboxContestant, SandboxTarget, TargetError};
use crate::web::filters::capitalised;
use crate::web::{Error, ErrorCode};

/// Whether a page can offer the server's own API keys. A visitor seems to be at this machine if the `Host` is `localhost`
/// or a loopback address, and no header tells of a proxy. That excludes other machines, and pages of other sites whose
/// name was rebound to a loopback address.
pub(in crate::web) fn offers_keys(app: &App, headers: &HeaderMap) -> bool {
    match app.config.sandbox.server_keys {
        ServerKeyAccess::Nobody => false,
        ServerKeyAccess::Everybody => true,
        ServerKeyAccess::ThisMachine => {
            let is_direct = headers.keys().all(|name| !tells_of_proxy(name.as_str()));
            let host = headers.get(HOST).and_then(|host| host.to_str().ok());
            is_direct && host.is_some_and(is_this_machine)
        }
    }
}

/// Whether a request may use the server's own API keys. A proxy that passes requests on and changes nothing else makes
/// up a `Host` of its own, but not the `Origin`: that is where the visitor's browser found the page.
pub(super) fn lends_keys(app: &App, headers: &HeaderMap) -> bool {
    let origin = headers.get(ORIGIN).and_then(|origin| origin.to_str().ok());
    let host = origin.and_then(|origin| origin.split_once("://")).map(|(_, host)| host);
    offers_keys(app, headers)
        && (app.config.sandbox.server_keys == ServerKeyAccess::Everybody || host.is_some_and(is_this_machine))
}

fn tells_of_proxy(header: &str) -> bool {
    header.starts_with("x-forwarded")
        || matches!(header, "forwarded" | "via" | "x-real-ip" | "cf-connecting-ip")
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
    /// The server's own keys, if this run may use them.
    pub loan: Option<Arc<KeyLoan>>,
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
            Some(secret) => match route_for_visitors(self.app, model) {
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
        let (known, name) = lent_route(self.app, model).ok_or_else(|| self.no_key())?;
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
        no_key(match self.loan {
            Some(_) => "This server has no API key for this model. Enter your own.",
            None => "Visitors cannot use this server’s API keys. Enter your own.",
        })
    }
}

fn no_key(message: &str) -> TargetError {
    TargetError { code: "no_key", message: message.to_owned() }
}

/// Whether visitors can use a provider with a key of their own. A provider that needs no key is most likely a machine of
/// the operator, and is lent like a key.
pub(in crate::web) fn takes_visitors(known: &catalog::Provider) -> bool {
    known.key_variable.is_some()
}

/// The provider that serves a model to visitors with a key of their own, and its model id there.
pub(in crate::web) fn route_for_visitors<'a>(
    app: &'a App,
    model: &'a Model,
) -> Option<(&'a catalog::Provider, &'a str)> {
    let known = app.worker.providers().known();
    model.routes().find_map(|(provider, name)| {
        Some((known.iter().find(|known| known.key == provider && takes_visitors(known))?, name))
    })
}

/// The provider that serves a model with the server's own key or without any, and its model id there.
pub(in crate::web) fn lent_route<'a>(
    app: &'a App,
    model: &'a Model,
) -> Option<(&'a catalog::Provider, &'a str)> {
    let providers = app.worker.providers();
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
