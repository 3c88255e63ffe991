//! Variables of the environment, and of a `.env` file under it, read one by one while every problem is collected.

use std::collections::HashMap;
use std::env;
use std::ffi::OsString;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use super::ConfigError;
use crate::generate::Secret;

const MIB: usize = 1024 * 1024;

/// Looks variables up, and notes what is wrong with them.
pub(super) struct EnvReader<L> {
    lookup: L,
    pub problems: Vec<String>,
}

/// A lookup in the process environment first, then in `.env` in the working directory.
pub(super) fn process_env() -> Result<impl Fn(&str) -> Option<OsString>, ConfigError> {
    let file = env_file()?;
    Ok(move |name: &str| env::var_os(name).or_else(|| file.get(name).map(OsString::from)))
}

/// An error of dotenvy's repeats the line, which may contain a secret; these errors name the line before it instead.
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
            line.map_err(|_| report(format!(".env has a line that is not NAME=value, {place}")))?;
        place = format!("after {name}");
        variables.entry(name).or_insert(value);
    }
    Ok(variables)
}

impl<L: Fn(&str) -> Option<OsString>> EnvReader<L> {
    pub fn new(lookup: L) -> Self {
        Self { lookup, problems: Vec::new() }
    }

    /// The value, unless there were problems.
    pub fn finish<T>(self, value: T) -> Result<T, ConfigError> {
        if self.problems.is_empty() { Ok(value) } else { Err(ConfigError { problems: self.problems }) }
    }

    pub fn report(&mut self, name: &str, why: &str) {
        self.problems.push(format!("{name} {why}"));
    }

    /// A trimmed value; none if it is unset or empty.
    pub fn text(&mut self, name: &str) -> Option<String> {
        let value = (self.lookup)(name)?;
        let Ok(text) = value.into_string() else {
            self.report(name, "is not valid UTF-8");
            return None;
        };
        let text = text.trim();
        (!text.is_empty()).then(|| text.to_owned())
    }

    /// A path, which need not be UTF-8.
    pub fn path(&self, name: &str) -> Option<PathBuf> {
        (self.lookup)(name).filter(|value| !value.is_empty()).map(PathBuf::from)
    }

    pub fn secret(&mut self, name: &str) -> Option<Secret> {
        self.text(name).map(|text| Secret::new(&text))
    }

    /// A parsed value. A refused one is repeated in the problem, so this must not be used for secrets.
    pub fn parse<T>(
        &mut self,
        name: &str,
        allowed: &str,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Option<T> {
        let text = self.text(name)?;
        let parsed = parse(&text);
        if parsed.is_none() {
            let shown: String = text.chars().take(60).collect();
            self.report(name, &format!("must be {allowed}, not {shown:?}"));
        }
        parsed
    }

    pub fn value<T: FromStr>(&mut self, name: &str, default: T, allowed: &str) -> T {
        self.parse(name, allowed, |text| text.parse().ok()).unwrap_or(default)
    }

    /// One of a few words; the first by default.
    pub fn choice<T: Copy>(&mut self, name: &str, allowed: &str, words: [(&str, T); 3]) -> T {
        let chosen = |text: &str| words.iter().find(|(word, _)| *word == text).map(|(_, value)| *value);
        self.parse(name, allowed, chosen).unwrap_or(words[0].1)
    }

    pub fn number<T>(&mut self, name: &str, default: T, range: RangeInclusive<T>) -> T
    where
        T: FromStr + PartialOrd + std::fmt::Display,
    {
        let allowed = format!("a number from {} to {}", range.start(), range.end());
        let within = |text: &str| text.parse().ok().filter(|number| range.contains(number));
        self.parse(name, &allowed, within).unwrap_or(default)
    }

    /// A number of MiB, in bytes.
    pub fn mebibytes(&mut self, name: &str, default: usize, max: usize) -> usize {
        let within = |text: &str| text.parse().ok().filter(|mib| (1..=max).contains(mib));
        let mib = self.parse(name, &format!("a whole number of MiB from 1 to {max}"), within);
        mib.unwrap_or(default) * MIB
    }

    /// A number of seconds, minutes or hours with its unit, up to a day. Zero needs no unit.
    pub fn time(&mut self, name: &str, default: Duration) -> Duration {
        let parse = |text: &str| {
            let (number, seconds) = [("s", 1), ("m", 60), ("h", 3600)]
                .into_iter()
                .find_map(|(unit, seconds)| Some((text.strip_suffix(unit)?, seconds)))
                .or_else(|| (text == "0").then_some((text, 1)))?;
            let total = number.parse::<u64>().ok()?.checked_mul(seconds)?;
            (total <= 24 * 3600).then(|| Duration::from_secs(total))
        };
        self.parse(name, "a time up to 24h, such as 20m, 90s or 0", parse).unwrap_or(default)
    }

    /// A switch that is on or off.
    pub fn switch(&mut self, name: &str) -> Option<bool> {
        self.parse(name, "on or off", |text| match text {
            "on" | "1" | "true" => Some(true),
            "off" | "0" | "false" => Some(false),
            _ => None,
        })
    }
}
