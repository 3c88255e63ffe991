//! How visitors show that they are people, before their votes are taken.

use std::ffi::OsString;
use std::str::FromStr;

use super::env::EnvReader;
use crate::generate::Secret;

#[derive(Clone)]
pub enum PersonCheckConfig {
    Off,
    /// A small proof of work by the visitor's browser.
    Work,
    Captcha(CaptchaConfig),
}

/// An account at a service that checks visitors.
#[derive(Clone)]
pub struct CaptchaConfig {
    pub service: CaptchaService,
    /// Public; it goes to browsers.
    pub site_key: String,
    pub secret: Secret,
    /// Where answers are verified. Only tests use another address than the service's own.
    pub verify_url: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CaptchaService {
    Turnstile,
    Hcaptcha,
}

impl CaptchaService {
    /// As in `PERSON_CHECK`, the API and the metrics.
    pub fn name(self) -> &'static str {
        match self {
            Self::Turnstile => "turnstile",
            Self::Hcaptcha => "hcaptcha",
        }
    }

    /// What the service calls itself.
    pub fn title(self) -> &'static str {
        match self {
            Self::Turnstile => "Cloudflare Turnstile",
            Self::Hcaptcha => "hCaptcha",
        }
    }

    fn verify_url(self) -> &'static str {
        match self {
            Self::Turnstile => "https://challenges.cloudflare.com/turnstile/v0/siteverify",
            Self::Hcaptcha => "https://api.hcaptcha.com/siteverify",
        }
    }
}

/// A value of `PERSON_CHECK`.
enum PersonCheckChoice {
    Off,
    Work,
    Captcha(CaptchaService),
}

impl FromStr for PersonCheckChoice {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        match text {
            "off" => Ok(Self::Off),
            "work" => Ok(Self::Work),
            "turnstile" => Ok(Self::Captcha(CaptchaService::Turnstile)),
            "hcaptcha" => Ok(Self::Captcha(CaptchaService::Hcaptcha)),
            _ => Err(()),
        }
    }
}

impl<L: Fn(&str) -> Option<OsString>> EnvReader<L> {
    /// By default, visitors of a site with a public address are checked by a proof of work.
    pub(super) fn person_check(&mut self, is_public: bool) -> PersonCheckConfig {
        let default = if is_public { PersonCheckChoice::Work } else { PersonCheckChoice::Off };
        match self.value("PERSON_CHECK", default, "off, work, turnstile or hcaptcha") {
            PersonCheckChoice::Off => PersonCheckConfig::Off,
            PersonCheckChoice::Work => PersonCheckConfig::Work,
            PersonCheckChoice::Captcha(service) => self.captcha(service),
        }
    }

    fn captcha(&mut self, service: CaptchaService) -> PersonCheckConfig {
        let needed = format!("is needed with PERSON_CHECK={}", service.name());
        let allowed = "the site key of the service: up to 200 letters, digits, - and _";
        let site_key = self.parse("PERSON_CHECK_SITE_KEY", allowed, site_key);
        if site_key.is_none() && self.text("PERSON_CHECK_SITE_KEY").is_none() {
            self.report("PERSON_CHECK_SITE_KEY", &needed);
        }
        let secret = self.secret("PERSON_CHECK_SECRET");
        if secret.is_none() {
            self.report("PERSON_CHECK_SECRET", &needed);
        }
        match (site_key, secret) {
            (Some(site_key), Some(secret)) => PersonCheckConfig::Captcha(CaptchaConfig {
                service,
                site_key,
                secret,
                verify_url: service.verify_url().to_owned(),
            }),
            // The configuration is refused for the reason reported above.
            _ => PersonCheckConfig::Off,
        }
    }
}

fn site_key(text: &str) -> Option<String> {
    let is_sound = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
    (text.len() <= 200 && text.bytes().all(is_sound)).then(|| text.to_owned())
}
