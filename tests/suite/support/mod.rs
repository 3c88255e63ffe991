//! The words the tests are written in.

pub mod admin;
pub mod browser;
pub mod call;
pub mod catalog;
pub mod db;
pub mod instance;
pub mod provider;
pub mod site;
pub mod slow_line;
pub mod voice;
pub mod voter;

pub use admin::Admin;
pub use browser::{Page, Theme, page};
pub use call::Call;
pub use catalog::{catalog, hut};
pub use instance::Instance;
pub use provider::{Beat, Provider, Script};
pub use site::Site;
pub use slow_line::SlowLine;
pub use voice::{Say, Voice};
pub use voter::Voter;

/// The tests' own clients use no TLS, but want to know whose they would use.
#[allow(unsafe_code)]
#[ctor::ctor(unsafe)]
fn choose_cryptography() {
    let _ = rustls::crypto::ring::default_provider().install_default();
}
