//! The providers that can be asked: those of the catalog that have a key, and the agents of the register.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock};

use anyhow::Context;

use super::{
    AgentSecrets, Endpoint, ModelProvider, ProviderKind, RequestLimits, Secret, agent_provider, provider,
};
use crate::arena::agents::RegisteredAgent;
use crate::arena::catalog::{self, Model};

/// The providers as they are now. Agents come and go while the server runs.
pub struct ProviderRegister {
    of_catalog: Providers,
    secrets: AgentSecrets,
    limits: RequestLimits,
    log_raw: bool,
    current: RwLock<RegisterState>,
}

#[derive(Default)]
struct RegisterState {
    agents: Vec<RegisteredAgent>,
    providers: Arc<Providers>,
}

/// Providers by their keys. An agent is a provider of itself.
#[derive(Clone, Default)]
pub struct Providers {
    known: Vec<catalog::Provider>,
    clients: BTreeMap<String, Arc<dyn ModelProvider>>,
}

impl ProviderRegister {
    pub fn new(of_catalog: Providers, secrets: AgentSecrets, limits: RequestLimits, log_raw: bool) -> Self {
        let state = RegisterState { agents: Vec::new(), providers: Arc::new(of_catalog.clone()) };
        Self { of_catalog, secrets, limits, log_raw, current: RwLock::new(state) }
    }

    pub fn current(&self) -> Arc<Providers> {
        Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner).providers)
    }

    /// Replaces the agents. Those that have not changed keep their clients, which know their cards.
    pub fn set_agents(&self, agents: Vec<RegisteredAgent>) {
        let mut state = self.current.write().unwrap_or_else(PoisonError::into_inner);
        if is_same(&state.agents, &agents) {
            return;
        }
        let mut providers = self.of_catalog.clone();
        for agent in agents.iter().filter(|agent| agent.enabled) {
            let old = state.agents.iter().find(|old| is_asked_alike(old, agent));
            let old = old.and_then(|_| state.providers.get(agent.entry.key.as_str()));
            let client = match old {
                Some(client) => Some(Arc::clone(client)),
                None => self.client(agent),
            };
            providers.add_agent(agent, client);
        }
        *state = RegisterState { agents, providers: Arc::new(providers) };
    }

    /// None if the agent's secret is not known here, or its address cannot be used.
    fn client(&self, agent: &RegisteredAgent) -> Option<Arc<dyn ModelProvider>> {
        let entry = &agent.entry;
        let secret = match &entry.key_variable {
            Some(variable) => Some(self.secrets.get(variable)?),
            None => None,
        };
        let endpoint =
            Endpoint { provider: ProviderKind::A2a, base_url: entry.url.clone(), key: secret, pinned: None };
        let client = agent_provider(&endpoint, agent.allows_private, self.limits, self.log_raw);
        client
            .inspect_err(|error| tracing::warn!(agent = %entry.key, %error, "the agent cannot be asked"))
            .ok()
    }
}

/// Whether nothing that matters here has changed.
fn is_same(before: &[RegisteredAgent], now: &[RegisteredAgent]) -> bool {
    let same = |(old, new): (&RegisteredAgent, &RegisteredAgent)| {
        is_asked_alike(old, new) && old.entry.name == new.entry.name && old.enabled == new.enabled
    };
    before.len() == now.len() && before.iter().zip(now).all(same)
}

fn is_asked_alike(old: &RegisteredAgent, new: &RegisteredAgent) -> bool {
    let asked = |agent: &RegisteredAgent| {
        let entry = &agent.entry;
        (entry.key.clone(), entry.url.clone(), entry.key_variable.clone(), agent.allows_private)
    };
    asked(old) == asked(new)
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

    /// An agent with the key of a provider is not asked.
    fn add_agent(&mut self, agent: &RegisteredAgent, client: Option<Arc<dyn ModelProvider>>) {
        let entry = &agent.entry;
        if self.known.iter().any(|known| known.key == entry.key.as_str()) {
            return;
        }
        self.known.push(catalog::Provider {
            key: entry.key.to_string(),
            display_name: entry.name.clone(),
            kind: ProviderKind::A2a,
            base_url: entry.url.clone(),
            key_variable: entry.key_variable.clone(),
            batch_price: None,
        });
        if let Some(client) = client {
            self.clients.insert(entry.key.to_string(), client);
        }
    }

    /// All providers of the catalog and all enabled agents, with and without keys.
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
