//! The catalog's providers, and clients for those with a key.

use std::collections::BTreeMap;
use std::sync::Arc;

use anyhow::Context;

use super::{Endpoint, ModelProvider, RequestLimits, Secret, provider};
use crate::arena::catalog::{self, Model};

/// Providers by their keys in the catalog.
#[derive(Clone, Default)]
pub struct Providers {
    known: Vec<catalog::Provider>,
    clients: BTreeMap<String, Arc<dyn ModelProvider>>,
}

impl Providers {
    /// Makes a client for each provider of the catalog that has a key here or needs none.
    ///
    /// # Errors
    /// If a provider's address or key cannot be used.
    pub fn new(
        known: &[catalog::Provider],
        keys: &BTreeMap<String, Secret>,
        limits: RequestLimits,
        log_raw: bool,
    ) -> anyhow::Result<Self> {
        let mut clients = BTreeMap::new();
        for catalog::Provider { key: name, kind, base_url, key_variable, .. } in known {
            let key = keys.get(name).cloned();
            if key.is_none() && key_variable.is_some() {
                continue;
            }
            let endpoint = Endpoint { provider: *kind, base_url: base_url.clone(), key, pinned: None };
            let client = provider(&endpoint, limits, log_raw).with_context(|| format!("provider {name}"))?;
            clients.insert(name.clone(), client);
        }
        Ok(Self { known: known.to_vec(), clients })
    }

    /// All providers of the catalog, enabled or not.
    pub fn known(&self) -> &[catalog::Provider] {
        &self.known
    }

    pub fn get(&self, key: &str) -> Option<&Arc<dyn ModelProvider>> {
        self.clients.get(key)
    }

    pub fn can_ask(&self, key: &str) -> bool {
        self.clients.contains_key(key)
    }

    /// The first enabled provider of a model: its key, and its name for the model.
    pub fn route<'a>(&self, model: &'a Model) -> Option<(&'a str, &'a str)> {
        model.routes().find(|(provider, _)| self.can_ask(provider))
    }

    /// The provider at which a model can be asked in batches, by its key, with its name for the model.
    pub fn batch_route<'a>(&self, model: &'a Model) -> Option<(&'a str, &'a str)> {
        model.routes().find(|(provider, _)| {
            self.batch_price(provider).is_some()
                && self.get(provider).is_some_and(|client| client.batches().is_some())
        })
    }

    /// What requests in a batch cost, as a part of the list price.
    pub fn batch_price(&self, provider: &str) -> Option<f64> {
        self.known.iter().find(|known| known.key == provider)?.batch_price
    }

    pub fn can_generate(&self, model: &Model) -> bool {
        self.route(model).is_some()
    }
}
