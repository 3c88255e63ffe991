//! The secrets of agents, in environment variables that the agents' entries name. Agents are entered while the server
//! runs, so the variables are looked up when they are needed.

use std::ffi::OsString;
use std::sync::Arc;

use super::Secret;

/// Looks up the secrets of agents.
#[derive(Clone)]
pub struct AgentSecrets(Arc<Lookup>);

type Lookup = dyn Fn(&str) -> Option<OsString> + Send + Sync;

impl AgentSecrets {
    pub fn new(lookup: impl Fn(&str) -> Option<OsString> + Send + Sync + 'static) -> Self {
        Self(Arc::new(lookup))
    }

    /// None if the variable is not set, or not to something that can be sent.
    pub fn get(&self, variable: &str) -> Option<Secret> {
        let secret = Secret::new(&(self.0)(variable)?.into_string().ok()?);
        (!secret.is_empty() && secret.is_sendable()).then_some(secret)
    }

    /// Whether admins may name this variable over the API and in the console. They could have any other secret of this
    /// machine sent to an address of their choice. Files and commands, which only people at this machine can use, may name
    /// any variable.
    pub fn is_open_to_admins(variable: &str) -> bool {
        variable.contains("AGENT")
    }
}

impl Default for AgentSecrets {
    fn default() -> Self {
        Self::new(|_| None)
    }
}
