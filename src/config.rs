//! Everything the environment decides, decided once.
//!
//! Below this file nobody reads a variable or parses one again. Every problem is found before anything
//! starts, and all of them are told together, by name; a secret's value is never repeated.

use std::collections::HashMap;
use std::env;
use std::ffi::OsString;
use std::fmt::{self, Display};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use hyper::Uri;
use ipnet::IpNet;
use tracing_subscriber::filter::{LevelFilter, Targets};

use crate::arena::catalog::{self, Catalog};
use crate::arena::{Mode, ReferencePolicy, Settings};
use crate::db::{self, DatabaseSource};
use crate::generate::{Providers, RequestLimits, Secret, attempts};
use voxel::{GridSize, Palette};

const DEFAULT_ADDRESS: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 3000);
const DEFAULT_LOG: &str = "info,sqlx=warn,hyper=warn,hyper_util=warn,tower_http=warn";
const DEFAULT_MIN_DWELL: Duration = Duration::from_millis(1500);
/// Providers' limits for new customers allow about that.
const DEFAULT_AT_ONCE: u32 = 4;
const MIB: usize = 1024 * 1024;

pub struct Config {
    pub database: DatabaseSource,
    /// Where files are looked for that stand in for what is built in.
    pub data_dir: Option<PathBuf>,
    pub bind: SocketAddr,
    pub logging: LoggingConfig,
    pub check_max_bytes: usize,
    pub import_max_bytes: usize,
    /// The catalog of files, as this installation has it.
    pub catalog: Catalog,
    pub generation: GenerationConfig,
    pub sandbox: SandboxConfig,
    /// Opens the admin's pages and API; they are closed without one.
    pub admin_token: Option<Secret>,
    pub arena: Settings,
    pub references: ReferencePolicy,
    pub min_dwell: Duration,
    pub rate_limits: bool,
    /// Whose word is taken for where a visitor comes from.
    pub trusted_proxies: Vec<IpNet>,
    /// Where visitors find the site, without a slash at its end.
    pub public_url: Option<String>,
}

/// Who may ask models in the sandbox with this server's own keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServerKeyAccess {
    Nobody,
    /// Whoever sits at it.
    ThisMachine,
    Everybody,
}

/// What sandbox users may do.
pub struct SandboxConfig {
    /// Ask with this server's keys.
    pub server_keys: ServerKeyAccess,
    /// Name endpoints nearby, and without encryption.
    pub local: bool,
    /// Runs at a time.
    pub max_concurrent: usize,
}

/// How models are asked.
pub struct GenerationConfig {
    pub providers: Providers,
    /// How often for one build.
    pub attempts: u32,
    /// Answers under way at one provider, over all servers.
    pub max_concurrent: u32,
    pub answer_max_bytes: usize,
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
    /// Reads the process environment, and below it a `.env` file in the working directory.
    pub fn load() -> Result<Self, ConfigError> {
        let file = env_file()?;
        Self::from_lookup(|name| env::var_os(name).or_else(|| file.get(name).map(OsString::from)))
    }

    /// The largest import alone, for commands that need no more.
    pub fn load_import_max_bytes() -> Result<usize, ConfigError> {
        let file = env_file()?;
        let lookup = |name: &str| env::var_os(name).or_else(|| file.get(name).map(OsString::from));
        let mut read = EnvReader { lookup, problems: Vec::new() };
        let bytes = read.import_max_bytes();
        if read.problems.is_empty() { Ok(bytes) } else { Err(ConfigError { problems: read.problems }) }
    }

    /// The same from any source of variables.
    pub fn from_lookup(lookup: impl Fn(&str) -> Option<OsString>) -> Result<Self, ConfigError> {
        let mut read = EnvReader { lookup, problems: Vec::new() };
        let data_dir = read.path("DATA_DIR").or_else(|| db::default_data_dir().ok());
        let catalog = read.catalog(data_dir.as_deref());
        let bind = read.bind();
        let config = Self {
            database: read.database(),
            sandbox: read.sandbox(bind),
            generation: read.generation(&catalog),
            catalog,
            data_dir,
            admin_token: read.secret("ADMIN_TOKEN"),
            bind,
            logging: LoggingConfig { filter: read.log_filter(), format: read.log_format() },
            check_max_bytes: read.mebibytes("CHECK_MAX_MIB", 32),
            import_max_bytes: read.import_max_bytes(),
            arena: Settings {
                grid: read.value("ARENA_GRID", GridSize::G32, "32, 64, 128 or 256"),
                palette: read.value("ARENA_PALETTE", Palette::Simple, "simple or advanced"),
                mode: read.value("ARENA_MODE", Mode::precise(), Mode::ALLOWED),
            },
            references: read.value("REFERENCE_MODELS", ReferencePolicy::Auto, "auto, on or off"),
            min_dwell: read.min_dwell(),
            rate_limits: read.parse("RATE_LIMITS", "on or off", on_or_off).unwrap_or(true),
            trusted_proxies: read.trusted_proxies(),
            public_url: read.parse("PUBLIC_URL", "an address such as https://buildoff.example", origin),
        };
        if read.problems.is_empty() { Ok(config) } else { Err(ConfigError { problems: read.problems }) }
    }
}

/// Every reason why the configuration cannot be used.
#[derive(Debug, thiserror::Error)]
pub struct ConfigError {
    problems: Vec<String>,
}

impl Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the configuration cannot be used:")?;
        self.problems.iter().try_for_each(|problem| write!(f, "\n  {problem}"))
    }
}

/// dotenvy's own error repeats the line, which may hold a secret; this one names the line before it.
fn env_file() -> Result<HashMap<String, String>, ConfigError> {
    let report = |problem: String| ConfigError { problems: vec![problem] };
    let lines = match dotenvy::from_path_iter(".env") {
        Ok(lines) => lines,
        Err(error) if error.not_found() => return Ok(HashMap::new()),
        Err(error) => return Err(report(format!(".env cannot be read: {error}"))),
    };
    let mut variables = HashMap::new();
    let mut place = "at its start".to_owned();
    for line in lines {
        let (name, value) =
            line.map_err(|_| report(format!(".env holds a line that is not NAME=value, {place}")))?;
        place = format!("after {name}");
        variables.entry(name).or_insert(value);
    }
    Ok(variables)
}

struct EnvReader<L> {
    lookup: L,
    problems: Vec<String>,
}

impl<L: Fn(&str) -> Option<OsString>> EnvReader<L> {
    fn database(&mut self) -> DatabaseSource {
        let url = self.postgres_url("DATABASE_URL");
        let direct_url = self.postgres_url("DIRECT_URL");
        let replica_url = self.postgres_url("DATABASE_REPLICA_URL");
        let (data_dir, pg_bin) = (self.path("DATA_DIR"), self.path("PG_BIN_DIR"));
        match url {
            Some(url) => DatabaseSource::Url { url, direct_url, replica_url },
            None => {
                if direct_url.is_some() {
                    self.report("DIRECT_URL", "needs DATABASE_URL beside it");
                }
                if replica_url.is_some() {
                    self.report("DATABASE_REPLICA_URL", "needs DATABASE_URL beside it");
                }
                DatabaseSource::Embedded { data_dir, pg_bin }
            }
        }
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

    fn log_filter(&mut self) -> Targets {
        let allowed = "a level (off, error, warn, info, debug, trace) or a list such as info,buildoff=debug";
        self.parse("LOG", allowed, log_filter).or_else(|| log_filter(DEFAULT_LOG)).unwrap_or_default()
    }

    fn log_format(&mut self) -> LogFormat {
        self.value("LOG_FORMAT", LogFormat::Auto, "auto, pretty or json")
    }

    fn mebibytes(&mut self, name: &str, default: usize) -> usize {
        let within = |text: &str| text.parse().ok().filter(|mib| (1..=2048).contains(mib));
        self.parse(name, "a whole number of MiB from 1 to 2048", within).unwrap_or(default) * MIB
    }

    fn catalog(&mut self, data_dir: Option<&Path>) -> Catalog {
        Catalog::load(data_dir).unwrap_or_else(|error| {
            self.problems.push(format!("{error:#}"));
            Catalog::default()
        })
    }

    fn generation(&mut self, catalog: &Catalog) -> GenerationConfig {
        let small = |text: &str| text.parse().ok().filter(|number| (1..=10).contains(number));
        let many = |text: &str| text.parse().ok().filter(|number| (1..=1000).contains(number));
        let log_raw = self.parse("AI_DEBUG", "1 or 0", on_or_off).unwrap_or(false);
        let within = |text: &str| text.parse().ok().filter(|mib| (1..=512).contains(mib));
        let answer_max_mib = self.parse("AI_ANSWER_MAX_MIB", "a whole number of MiB from 1 to 512", within);
        let answer_max_bytes = answer_max_mib.unwrap_or(64) * MIB;
        let limits = RequestLimits { max_bytes: answer_max_bytes, ..RequestLimits::default() };
        let mut known = catalog.providers.clone();
        for provider in &mut known {
            if let Some(address) = provider.address_variable().and_then(|name| self.provider_address(&name)) {
                provider.base_url = address;
            }
        }
        let mut providers = Providers::new(known.clone());
        for provider in &known {
            let key = provider.key_variable.as_deref().and_then(|name| self.secret(name));
            if key.is_none() && provider.key_variable.is_some() {
                continue;
            }
            if let Err(problem) = providers.enable(provider, key, limits, log_raw) {
                self.problems.push(format!("provider {}: {problem}", provider.key));
            }
        }
        GenerationConfig {
            providers,
            attempts: self
                .parse("AI_ATTEMPTS", "a number from 1 to 10", small)
                .unwrap_or(attempts::DEFAULT_ATTEMPTS),
            max_concurrent: self
                .parse("AI_AT_ONCE", "a number from 1 to 1000", many)
                .unwrap_or(DEFAULT_AT_ONCE),
            answer_max_bytes,
        }
    }

    fn sandbox(&mut self, bind: SocketAddr) -> SandboxConfig {
        let few = |text: &str| text.parse().ok().filter(|number| (1..=1000).contains(number));
        let here = bind.ip().is_loopback();
        SandboxConfig {
            server_keys: match self.parse("SANDBOX_SERVER_KEYS", "on or off", on_or_off) {
                Some(true) => ServerKeyAccess::Everybody,
                None if here => ServerKeyAccess::ThisMachine,
                _ => ServerKeyAccess::Nobody,
            },
            local: self.parse("SANDBOX_LOCAL", "on or off", on_or_off).unwrap_or(false),
            max_concurrent: self.parse("SANDBOX_AT_ONCE", "a number from 1 to 1000", few).unwrap_or(8),
        }
    }

    /// Not repeated when it is refused: a key may have been put into it.
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

    fn secret(&mut self, name: &str) -> Option<Secret> {
        self.text(name).map(|text| Secret::new(&text))
    }

    fn min_dwell(&mut self) -> Duration {
        let within = |text: &str| text.parse().ok().filter(|ms| *ms <= 600_000);
        let ms = self.parse("MIN_DWELL_MS", "a number of milliseconds up to 600000", within);
        ms.map_or(DEFAULT_MIN_DWELL, Duration::from_millis)
    }

    fn trusted_proxies(&mut self) -> Vec<IpNet> {
        let allowed = "a list of addresses and networks such as 127.0.0.1, 10.0.0.0/8";
        self.parse("TRUSTED_PROXIES", allowed, networks).unwrap_or_default()
    }

    fn import_max_bytes(&mut self) -> usize {
        self.mebibytes("IMPORT_MAX_MIB", 256)
    }

    fn postgres_url(&mut self, name: &str) -> Option<String> {
        let url = self.text(name)?;
        if url.starts_with("postgres://") || url.starts_with("postgresql://") {
            return Some(url);
        }
        self.report(name, "must be an address that begins with postgres:// (its value is not shown here)");
        // Set, though badly: so as not to complain as well that it is missing.
        Some(url)
    }

    fn path(&self, name: &str) -> Option<PathBuf> {
        (self.lookup)(name).filter(|value| !value.is_empty()).map(PathBuf::from)
    }

    fn value<T: FromStr>(&mut self, name: &str, default: T, allowed: &str) -> T {
        self.parse(name, allowed, |text| text.parse().ok()).unwrap_or(default)
    }

    /// Only for what may be shown: a refused value is repeated.
    fn parse<T>(&mut self, name: &str, allowed: &str, parse: impl FnOnce(&str) -> Option<T>) -> Option<T> {
        let text = self.text(name)?;
        let parsed = parse(&text);
        if parsed.is_none() {
            let shown: String = text.chars().take(60).collect();
            self.report(name, &format!("must be {allowed}, not {shown:?}"));
        }
        parsed
    }

    fn text(&mut self, name: &str) -> Option<String> {
        let value = (self.lookup)(name)?;
        let Ok(text) = value.into_string() else {
            self.report(name, "is not valid UTF-8");
            return None;
        };
        let text = text.trim();
        (!text.is_empty()).then(|| text.to_owned())
    }

    fn report(&mut self, name: &str, why: &str) {
        self.problems.push(format!("{name} {why}"));
    }
}

fn socket_address(text: &str) -> Option<SocketAddr> {
    let with_default_port = |ip: IpAddr| SocketAddr::new(ip, DEFAULT_ADDRESS.port());
    text.parse().ok().or_else(|| text.parse().ok().map(with_default_port))
}

fn on_or_off(text: &str) -> Option<bool> {
    match text {
        "on" | "1" | "true" => Some(true),
        "off" | "0" | "false" => Some(false),
        _ => None,
    }
}

fn networks(text: &str) -> Option<Vec<IpNet>> {
    let network = |part: &str| part.parse().ok().or_else(|| part.parse::<IpAddr>().ok().map(IpNet::from));
    text.split(',').map(str::trim).filter(|part| !part.is_empty()).map(network).collect()
}

/// A scheme and a host, and nothing behind them.
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

/// A bare word would silently be taken for a target; here it has to be a level.
fn log_filter(text: &str) -> Option<Targets> {
    let sound = |part: &str| part.contains('=') || part.trim().parse::<LevelFilter>().is_ok();
    text.split(',').all(sound).then(|| text.parse().ok()).flatten()
}

impl FromStr for LogFormat {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        match text {
            "auto" => Ok(Self::Auto),
            "pretty" => Ok(Self::Pretty),
            "json" => Ok(Self::Json),
            _ => Err(()),
        }
    }
}

#[cfg(test)]
mod tests;
