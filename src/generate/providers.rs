//! Everybody who can be asked from here: the catalog's providers for which there is a key.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Endpoint, EndpointError, ModelProvider, RequestLimits, Secret, provider};
use crate::arena::catalog::{self, Model};

/// The providers that can be asked, by their keys in the catalog.
#[derive(Clone, Default)]
pub struct Providers {
    known: Vec<catalog::Provider>,
    clients: BTreeMap<String, Arc<dyn ModelProvider>>,
}

impl Providers {
    /// `known` are the catalog's; who is asked with which key is told by `enable`.
    pub fn new(known: Vec<catalog::Provider>) -> Self {
        Self { known, clients: BTreeMap::new() }
    }

    /// Makes it possible to ask a provider.
    pub fn enable(
        &mut self,
        known: &catalog::Provider,
        key: Option<Secret>,
        limits: RequestLimits,
        log_raw: bool,
    ) -> Result<(), EndpointError> {
        let endpoint = Endpoint { provider: known.kind, base_url: known.base_url.clone(), key, pinned: None };
        self.clients.insert(known.key.clone(), provider(&endpoint, limits, log_raw)?);
        Ok(())
    }

    /// All of the catalog's, asked or not.
    pub fn known(&self) -> &[catalog::Provider] {
        &self.known
    }

    pub fn get(&self, key: &str) -> Option<&Arc<dyn ModelProvider>> {
        self.clients.get(key)
    }

    pub fn can_ask(&self, key: &str) -> bool {
        self.clients.contains_key(key)
    }

    /// The first that answers for a model and can be asked: its key, and its name for the model.
    pub fn route<'a>(&self, model: &'a Model) -> Option<(&'a str, &'a str)> {
        model.routes().find(|(provider, _)| self.can_ask(provider))
    }

    pub fn can_generate(&self, model: &Model) -> bool {
        self.route(model).is_some()
    }
}
