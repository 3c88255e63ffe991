//! Everything that the environment decides, read once.
//!
//! Nothing below this file reads a variable or parses it again. All problems are collected and reported together,
//! by the names of their variables, before anything starts. The value of a secret is never repeated.

mod assessments;
mod budgets;
mod env;
mod person_check;
mod sandbox;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::time::Duration;

use hyper::Uri;
use ipnet::IpNet;
use tracing_subscriber::filter::{LevelFilter, Targets};

pub use self::assessments::{AssessAccess, AssessConfig};
pub use self::budgets::{BudgetConfig, BudgetWebhook};
use self::env::{EnvReader, process_env};
pub use self::person_check::{CaptchaConfig, CaptchaService, PersonCheckConfig};
pub use self::sandbox::{LoanLimits, SandboxConfig, ServerKeyAccess};
use crate::arena::catalog::{self, Catalog};
use crate::arena::{Mode, ReferencePolicy, Settings, VoteBudgets};
use crate::db::{self, DatabaseSource};
use crate::generate::{AgentSecrets, Secret, attempts};
use voxel::{GridSize, Palette};

const DEFAULT_ADDRESS: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 3000);
const DEFAULT_LOG: &str = "info,sqlx=warn,hyper=warn,hyper_util=warn,tower_http=warn";
const DEFAULT_MIN_DWELL_MS: u64 = 1500;
const DEFAULT_HELD_OUT_VOTES: u32 = 200;
const DEFAULT_COHORT_PERCENT: u32 = 50;
/// About what providers allow new customers.
const DEFAULT_AT_ONCE: u32 = 4;
/// Longer than most answers take.
const DEFAULT_STOP_WAIT: Duration = Duration::from_secs(20 * 60);

pub struct Config {
    pub database: DatabaseSource,
    /// A folder with files that replace built-in ones.
    pub data_dir: Option<PathBuf>,
    pub bind: SocketAddr,
    /// The address that the agent's card names, if it is not that of the site.
    pub card_url: Option<String>,
    /// Where the metrics are, if not at `bind`.
    pub metrics_bind: Option<SocketAddr>,
    pub logging: LoggingConfig,
    pub check_max_bytes: usize,
    pub import_max_bytes: usize,
    /// The catalog of this installation, with the providers at their configured addresses.
    pub catalog: Catalog,
    pub generation: GenerationConfig,
    pub sandbox: SandboxConfig,
    pub assess: AssessConfig,
    pub budgets: BudgetConfig,
    /// Opens the admin pages and API. Without a token they are closed.
    pub admin_token: Option<Secret>,
    pub arena: Settings,
    pub references: ReferencePolicy,
    /// How long a voter must have a matchup before a vote on it counts.
    pub min_dwell: Duration,
    pub vote_budgets: VoteBudgets,
    /// How late results are shown.
    pub results_delay: Duration,
    pub voting: Voting,
    pub person_check: PersonCheckConfig,
    /// The counted votes after which a build of a held-out prompt is shown outside of matchups.
    pub held_out_votes: u32,
    /// Of the active prompts, how many percent a model must have built before its builds are voted on.
    pub cohort_percent: u32,
    pub rate_limits: bool,
    /// Proxies that are trusted to name the address of a visitor.
    pub trusted_proxies: Vec<IpNet>,
    /// The address of the site for visitors, without a slash at its end.
    pub public_url: Option<String>,
    /// Under which license the dataset may be used.
    pub dataset_license: Option<String>,
}

/// Whether votes are taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Voting {
    Open,
    /// Every page stays. The notice says why nobody can vote.
    Closed {
        notice: Option<String>,
    },
}

/// How models are asked for builds.
pub struct GenerationConfig {
    /// The keys of providers, by the providers' keys in the catalog.
    pub keys: BTreeMap<String, Secret>,
    pub agent_secrets: AgentSecrets,
    /// Attempts at one build.
    pub attempts: u32,
    /// Requests to one provider at the same time, over all servers.
    pub max_concurrent: u32,
    pub answer_max_bytes: usize,
    /// Whether answers that cannot be used are logged.
    pub log_raw: bool,
    /// How long a process that stops waits for the answers that stream.
    pub stop_wait: Duration,
}

/// Where the command line says that the server listens. What it leaves open is as BIND and PORT say.
#[derive(Clone, Copy, Debug, Default)]
pub struct ListenAt {
    pub host: Option<IpAddr>,
    pub port: Option<u16>,
}

impl ListenAt {
    fn instead_of(self, bind: SocketAddr) -> SocketAddr {
        SocketAddr::new(self.host.unwrap_or(bind.ip()), self.port.unwrap_or(bind.port()))
    }
}

pub struct LoggingConfig {
    pub filter: Targets,
    pub format: LogFormat,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogFormat {
    /// Pretty on a terminal, JSON elsewhere.
    Auto,
    Pretty,
    Json,
}

impl Config {
    /// Reads the process environment, and under it a `.env` file in the working directory.
    pub fn load() -> Result<Self, ConfigError> {
        Self::load_at(ListenAt::default())
    }

    /// Like [`Self::load`], where the command line names another address to listen at.
    pub fn load_at(place: ListenAt) -> Result<Self, ConfigError> {
        let env = process_env()?;
        let mut config = Self::from_lookup_at(&env, place)?;
        config.generation.agent_secrets = AgentSecrets::new(env);
        Ok(config)
    }

    /// Reads only the largest size of an import, for commands that need nothing else.
    pub fn load_import_max_bytes() -> Result<usize, ConfigError> {
        let mut read = EnvReader::new(process_env()?);
        let bytes = read.import_max_bytes();
        read.finish(bytes)
    }

    /// Reads variables from any source.
    pub fn from_lookup(lookup: impl Fn(&str) -> Option<OsString>) -> Result<Self, ConfigError> {
        Self::from_lookup_at(lookup, ListenAt::default())
    }

    fn from_lookup_at(
        lookup: impl Fn(&str) -> Option<OsString>,
        place: ListenAt,
    ) -> Result<Self, ConfigError> {
        let mut read = EnvReader::new(lookup);
        let data_dir = read.path("DATA_DIR").or_else(|| db::default_data_dir().ok());
        let catalog = read.catalog(data_dir.as_deref());
        let bind = place.instead_of(read.bind());
        let trusted_proxies = read.trusted_proxies();
        let public_url = read.parse("PUBLIC_URL", "an address such as https://buildoff.example", origin);
        let is_private = bind.ip().is_loopback() && public_url.is_none() && trusted_proxies.is_empty();
        let (sandbox, assess) = (read.sandbox(is_private), read.assess());
        let config = Self {
            database: read.database(),
            budgets: read.budgets(&sandbox.loan_limits),
            sandbox,
            assess,
            generation: read.generation(&catalog),
            catalog,
            data_dir,
            admin_token: read.admin_token(is_private),
            bind,
            card_url: None,
            metrics_bind: read.metrics_bind(),
            logging: LoggingConfig { filter: read.log_filter(), format: read.log_format() },
            check_max_bytes: read.mebibytes("CHECK_MAX_MIB", 32, 2048),
            import_max_bytes: read.import_max_bytes(),
            arena: Settings {
                grid: read.value("ARENA_GRID", GridSize::G32, "32, 64, 128 or 256"),
                palette: read.value("ARENA_PALETTE", Palette::Simple, "simple or advanced"),
                mode: read.value("ARENA_MODE", Mode::precise(), Mode::ALLOWED),
            },
            references: read.references(),
            min_dwell: read.min_dwell(),
            vote_budgets: read.vote_budgets(public_url.is_some()),
            results_delay: read.results_delay(public_url.is_some()),
            voting: read.voting(),
            person_check: read.person_check(public_url.is_some()),
            held_out_votes: read.number("HELD_OUT_VOTES", DEFAULT_HELD_OUT_VOTES, 0..=1_000_000),
            cohort_percent: read.number("COHORT_PERCENT", DEFAULT_COHORT_PERCENT, 0..=100),
            rate_limits: read.switch("RATE_LIMITS").unwrap_or(true),
            trusted_proxies,
            public_url,
            dataset_license: read.text("DATASET_LICENSE"),
        };
        read.finish(config)
    }
}

/// The address at which this machine reaches a listener.
pub fn local_url(mut address: SocketAddr) -> String {
    if address.ip().is_unspecified() {
        address.set_ip(match address {
            SocketAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
            SocketAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
        });
    }
    format!("http://{address}")
}

impl Config {
    /// Whether visitors reach the site over TLS.
    pub fn is_https(&self) -> bool {
        let scheme = self.public_url.as_ref().and_then(|url| url.get(..6));
        scheme.is_some_and(|scheme| scheme.eq_ignore_ascii_case("https:"))
    }

    /// The address of the site as other machines and its own card know it, without a trailing slash.
    pub fn site_url(&self) -> String {
        self.public_url.clone().unwrap_or_else(|| local_url(self.bind))
    }

    /// What somebody who starts a server should think about. None of it is wrong.
    pub fn warnings(&self) -> Vec<&'static str> {
        let mut warnings = Vec::new();
        if self.admin_token.as_ref().is_some_and(Secret::is_short) {
            warnings.push(
                "ADMIN_TOKEN is short enough to be guessed; create a longer one with `openssl rand -hex 32`",
            );
        }
        if !self.generation.keys.is_empty() && !self.sandbox.server_keys_decided {
            warnings.push(match self.sandbox.server_keys {
                ServerKeyAccess::ThisMachine => {
                    "API keys are set, and whoever seems to be at this machine can use them in the sandbox. Set \
                     SANDBOX_SERVER_KEYS to off before putting a proxy in front of this server, or to on if everybody \
                     may use them"
                }
                _ => {
                    "API keys are set, and nobody can use them in the sandbox. Set SANDBOX_SERVER_KEYS to on if \
                     everybody may, or to off if that is what you want"
                }
            });
        }
        if self.assess.access == AssessAccess::Everybody {
            warnings.push(
                "ASSESS is open: everybody who reaches this server can have it send requests to any address, also in \
                 private networks. That is meant for closed networks",
            );
        }
        warnings
    }
}

/// Every reason why the configuration cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("the configuration is invalid:\n  {}", problems.join("\n  "))]
pub struct ConfigError {
    problems: Vec<String>,
}

/// The variables of this program; how one is looked up and refused is in `env`.
impl<L: Fn(&str) -> Option<OsString>> EnvReader<L> {
    fn database(&mut self) -> DatabaseSource {
        let url = self.postgres_url("DATABASE_URL");
        let direct_url = self.postgres_url("DIRECT_URL");
        let replica_url = self.postgres_url("DATABASE_REPLICA_URL");
        let (data_dir, pg_bin) = (self.path("DATA_DIR"), self.path("PG_BIN_DIR"));
        if let Some(url) = url {
            return DatabaseSource::Url { url, direct_url, replica_url };
        }
        for (name, url) in [("DIRECT_URL", direct_url), ("DATABASE_REPLICA_URL", replica_url)] {
            if url.is_some() {
                self.report(name, "needs DATABASE_URL as well");
            }
        }
        DatabaseSource::Embedded { data_dir, pg_bin }
    }

    fn bind(&mut self) -> SocketAddr {
        let address = self.parse("BIND", "an address such as 127.0.0.1:3000 or [::]:3000", socket_address);
        let port =
            self.parse("PORT", "a port from 0 to 65535 (0 picks a free one)", |text| text.parse().ok());
        let mut address = address.unwrap_or(DEFAULT_ADDRESS);
        if let Some(port) = port {
            address.set_port(port);
        }
        address
    }

    fn metrics_bind(&mut self) -> Option<SocketAddr> {
        // Without a default port: that of the site would only look right.
        self.parse("METRICS_BIND", "an address with a port such as 127.0.0.1:9464", |text| text.parse().ok())
    }

    fn log_filter(&mut self) -> Targets {
        let allowed = "a level (off, error, warn, info, debug, trace) or a list such as info,buildoff=debug";
        self.parse("LOG", allowed, log_filter).or_else(|| log_filter(DEFAULT_LOG)).unwrap_or_default()
    }

    fn log_format(&mut self) -> LogFormat {
        let formats = [("auto", LogFormat::Auto), ("pretty", LogFormat::Pretty), ("json", LogFormat::Json)];
        self.choice("LOG_FORMAT", "auto, pretty or json", formats)
    }

    fn references(&mut self) -> ReferencePolicy {
        let policies =
            [("auto", ReferencePolicy::Auto), ("on", ReferencePolicy::On), ("off", ReferencePolicy::Off)];
        self.choice("REFERENCE_MODELS", "auto, on or off", policies)
    }

    /// The catalog's files, with what is set in the environment.
    fn catalog(&mut self, data_dir: Option<&Path>) -> Catalog {
        let mut catalog = Catalog::load(data_dir).unwrap_or_else(|error| {
            self.problems.push(format!("{error:#}"));
            Catalog::default()
        });
        for provider in &mut catalog.providers {
            if let Some(address) = provider.address_variable().and_then(|name| self.provider_address(&name)) {
                provider.base_url = address;
            }
        }
        catalog.held_out_percent = self.number("HELD_OUT_PERCENT", 0, 0..=100);
        catalog
    }

    fn generation(&mut self, catalog: &Catalog) -> GenerationConfig {
        let mut keys = BTreeMap::new();
        for provider in &catalog.providers {
            let Some(name) = &provider.key_variable else { continue };
            let Some(key) = self.secret(name) else { continue };
            if !key.is_sendable() {
                self.report(
                    name,
                    "has characters that cannot be sent in a header (its value is not shown here)",
                );
            }
            keys.insert(provider.key.clone(), key);
        }
        GenerationConfig {
            keys,
            agent_secrets: AgentSecrets::default(),
            attempts: self.number("AI_ATTEMPTS", attempts::DEFAULT_ATTEMPTS, 1..=10),
            max_concurrent: self.number("AI_AT_ONCE", DEFAULT_AT_ONCE, 1..=1000),
            answer_max_bytes: self.mebibytes("AI_ANSWER_MAX_MIB", 64, 512),
            log_raw: self.switch("AI_DEBUG").unwrap_or(false),
            stop_wait: self.time("STOP_WAIT", DEFAULT_STOP_WAIT),
        }
    }

    /// A refused address is not repeated, because somebody may have put a key into it.
    fn provider_address(&mut self, name: &str) -> Option<String> {
        let text = self.text(name)?;
        let address = text.trim_end_matches('/');
        if !catalog::is_address(address) {
            self.report(
                name,
                "must be an address that begins with http:// or https://, without ?, # and @ \
                (its value is not shown here)",
            );
        }
        Some(address.to_owned())
    }

    /// A short token can be guessed. That is for people to decide who are alone with their server.
    fn admin_token(&mut self, is_private: bool) -> Option<Secret> {
        let token = self.secret("ADMIN_TOKEN");
        if !is_private && token.as_ref().is_some_and(Secret::is_short) {
            self.report(
                "ADMIN_TOKEN",
                "needs at least 16 characters, because BIND or PUBLIC_URL lets others reach this server; create one \
                 with `openssl rand -hex 32` (its value is not shown here)",
            );
        }
        token
    }

    fn min_dwell(&mut self) -> Duration {
        let within = |text: &str| text.parse().ok().filter(|ms| *ms <= 600_000);
        let ms = self.parse("MIN_DWELL_MS", "a number of milliseconds up to 600000", within);
        Duration::from_millis(ms.unwrap_or(DEFAULT_MIN_DWELL_MS))
    }

    /// An installation on the internet has limits unless they are switched off with 0; on one's own machine or network,
    /// all votes may well come from the same network.
    fn vote_budgets(&mut self, is_public: bool) -> VoteBudgets {
        let mut budget = |name: &str, default: u32, range: RangeInclusive<u32>| {
            let default = if is_public { default } else { 0 };
            Some(self.number(name, default, range)).filter(|budget| *budget > 0)
        };
        VoteBudgets {
            voter_per_day: budget("VOTER_VOTES_PER_DAY", 300, 0..=1_000_000),
            network_per_day: budget("NETWORK_VOTES_PER_DAY", 2000, 0..=10_000_000),
            network_points: budget("NETWORK_ELO_POINTS", 10, 0..=1000).map(f64::from),
        }
    }

    fn results_delay(&mut self, is_public: bool) -> Duration {
        let minutes = self.number("RESULTS_DELAY_MINUTES", if is_public { 60 } else { 0 }, 0..=10_080);
        Duration::from_secs(60 * minutes)
    }

    fn voting(&mut self) -> Voting {
        let is_open = self.parse("ARENA", "open or closed", |text| match text {
            "open" => Some(true),
            "closed" => Some(false),
            _ => None,
        });
        let notice = self.text("ARENA_NOTICE");
        match is_open {
            Some(false) => Voting::Closed { notice },
            _ => Voting::Open,
        }
    }

    fn trusted_proxies(&mut self) -> Vec<IpNet> {
        let allowed = "a list of addresses and networks such as 127.0.0.1, 10.0.0.0/8";
        self.parse("TRUSTED_PROXIES", allowed, networks).unwrap_or_default()
    }

    fn import_max_bytes(&mut self) -> usize {
        self.mebibytes("IMPORT_MAX_MIB", 256, 2048)
    }

    fn postgres_url(&mut self, name: &str) -> Option<String> {
        let url = self.text(name)?;
        if !url.starts_with("postgres://") && !url.starts_with("postgresql://") {
            self.report(
                name,
                "must be an address that begins with postgres:// (its value is not shown here)",
            );
        }
        // A refused address counts as set, so that nothing else is reported as missing.
        Some(url)
    }
}

fn socket_address(text: &str) -> Option<SocketAddr> {
    let with_default_port = |ip: IpAddr| SocketAddr::new(ip, DEFAULT_ADDRESS.port());
    text.parse().ok().or_else(|| text.parse().ok().map(with_default_port))
}

fn networks(text: &str) -> Option<Vec<IpNet>> {
    let network = |part: &str| part.parse().ok().or_else(|| part.parse::<IpAddr>().ok().map(IpNet::from));
    text.split(',').map(str::trim).filter(|part| !part.is_empty()).map(network).collect()
}

/// An address that is only a scheme and a host, without a slash at its end.
fn origin(text: &str) -> Option<String> {
    let origin = text.strip_suffix('/').unwrap_or(text);
    let uri: Uri = origin.parse().ok()?;
    let sound = matches!(uri.scheme_str(), Some("http" | "https"))
        && uri.host().is_some_and(|host| !host.is_empty())
        && matches!(uri.path(), "" | "/")
        && uri.query().is_none()
        && !origin.contains('@');
    sound.then(|| origin.to_owned())
}

/// tracing reads a bare word that is not a level as the name of a target; here it is refused.
fn log_filter(text: &str) -> Option<Targets> {
    let sound = |part: &str| part.contains('=') || part.trim().parse::<LevelFilter>().is_ok();
    text.split(',').all(sound).then(|| text.parse().ok()).flatten()
}

#[cfg(test)]
mod tests;
