//! Small catalogs of prompts and models for a fake provider.

use std::fmt::Write;
use std::fs;

use tempfile::TempDir;

use super::admin::TOKEN;
use super::fake_protocol::MODEL;
use super::fake_provider::API_KEY;
use super::{FakeProtocol, FakeProvider};

/// A data directory with a catalog. All models belong to the fake provider. Models are given by key and
/// prompts by slug.
pub struct TestCatalog {
    folder: TempDir,
}

impl TestCatalog {
    pub fn new(provider: &FakeProvider, models: &[&str], prompts: &[&str]) -> Self {
        Self::at(provider.protocol(), &provider.endpoint().base_url, models, prompts)
    }

    /// A catalog whose provider speaks this protocol at this address.
    pub fn at(protocol: FakeProtocol, base_url: &str, models: &[&str], prompts: &[&str]) -> Self {
        let kind = match protocol {
            FakeProtocol::OpenAi => "openai",
            FakeProtocol::Anthropic => "anthropic",
            FakeProtocol::Google => "google",
            FakeProtocol::Compatible => "compatible",
        };
        let mut toml = format!(
            "[[provider]]\nkey = \"somebody\"\ndisplayName = \"Somebody\"\nkind = \"{kind}\"\n\
         baseUrl = \"{base_url}\"\nkeyVariable = \"SOMEBODY_API_KEY\"\n"
        );
        write!(
        toml,
        "[[provider]]\nkey = \"nearby\"\ndisplayName = \"Nearby\"\nkind = \"{kind}\"\nbaseUrl = \"{base_url}\"\n"
    )
    .unwrap();
        if protocol != FakeProtocol::Compatible {
            toml = toml.replace("keyVariable =", "batchPrice = 0.5\nkeyVariable =");
        }
        for model in models {
            write!(
                toml,
                "[[model]]\nkey = \"{model}\"\nprovider = \"somebody\"\nmodelId = \"{MODEL}\"\n\
             displayName = \"Model {model}\"\nprices = {{ input = 1.0, output = 2.0 }}\n"
            )
            .unwrap();
        }
        let mut texts = String::new();
        for prompt in prompts {
            write!(texts, "[[prompt]]\nslug = \"{prompt}\"\ntext = \"a {prompt}\"\n").unwrap();
        }
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("models.toml"), toml).unwrap();
        fs::write(folder.path().join("prompts.toml"), texts).unwrap();
        Self { folder }
    }

    /// Lets a model see pictures.
    pub fn with_vision(self, model: &str) -> Self {
        let path = self.folder.path().join("models.toml");
        let (key, toml) = (format!("key = \"{model}\"\n"), fs::read_to_string(&path).unwrap());
        fs::write(path, toml.replace(&key, &format!("{key}vision = true\n"))).unwrap();
        self
    }

    /// The environment variables for a server with this catalog, followed by `more`.
    pub fn variables<'a>(&'a self, more: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
        let mut variables = vec![
            ("DATA_DIR", self.folder.path().to_str().unwrap()),
            ("SOMEBODY_API_KEY", API_KEY),
            ("ADMIN_TOKEN", TOKEN),
            ("RATE_LIMITS", "off"),
        ];
        variables.extend(more);
        variables
    }
}

/// A valid spec at 32 · simple. The number of storeys makes it differ from others.
pub fn sample_spec(storeys: usize) -> String {
    format!(
        r#"{{"version":"1.0","boxes":[{{"x1":2,"y1":0,"z1":2,"x2":20,"y2":{},"z2":20,"type":"bricks"}}]}}"#,
        storeys + 3
    )
}
