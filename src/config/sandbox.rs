//! What visitors can do in the sandbox, and with whose API keys.

use std::ffi::OsString;

use super::env::EnvReader;
use crate::generate::cost::MicroDollars;

const DEFAULT_DAILY_DOLLARS: f64 = 10.0;
/// Enough for a class of thirty, which mostly shares a network.
const DEFAULT_DAILY_RUNS: u32 = 60;

pub struct SandboxConfig {
    pub server_keys: ServerKeyAccess,
    /// Whether `SANDBOX_SERVER_KEYS` is set, so that somebody has decided who may use the keys.
    pub server_keys_decided: bool,
    pub loan_limits: LoanLimits,
    /// Whether visitors can name endpoints in the local network, and endpoints without encryption.
    pub local: bool,
    /// Runs at the same time.
    pub max_concurrent: usize,
}

/// Who can use this server's own keys in the sandbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServerKeyAccess {
    Nobody,
    /// Visitors on the same machine.
    ThisMachine,
    Everybody,
}

/// How much of this server's own keys visitors can use in a day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoanLimits {
    /// For all visitors together.
    pub budget: MicroDollars,
    /// For an IPv4 /24 or an IPv6 /48.
    pub runs_per_network: u32,
}

impl<L: Fn(&str) -> Option<OsString>> EnvReader<L> {
    /// Unless somebody decides otherwise, keys are lent only to people at this machine, and only while nothing suggests
    /// that others come, too: behind a proxy, every visitor seems to be at this machine.
    pub(super) fn sandbox(&mut self, is_private: bool) -> SandboxConfig {
        let server_keys = self.switch("SANDBOX_SERVER_KEYS");
        let dollars = self.number("SANDBOX_DAILY_DOLLARS", DEFAULT_DAILY_DOLLARS, 0.0..=1_000_000.0);
        SandboxConfig {
            server_keys: match server_keys {
                Some(true) => ServerKeyAccess::Everybody,
                None if is_private => ServerKeyAccess::ThisMachine,
                _ => ServerKeyAccess::Nobody,
            },
            server_keys_decided: server_keys.is_some(),
            loan_limits: LoanLimits {
                budget: MicroDollars((dollars * 1e6).round() as u64),
                runs_per_network: self.number("SANDBOX_DAILY_RUNS", DEFAULT_DAILY_RUNS, 1..=1_000_000),
            },
            local: self.switch("SANDBOX_LOCAL").unwrap_or(false),
            max_concurrent: self.number("SANDBOX_AT_ONCE", 8, 1..=1000),
        }
    }
}
