//! The words the tests are written in.

pub mod abortable_request;
pub mod admin;
pub mod browser;
pub mod catalog;
pub mod db;
pub mod fake_protocol;
pub mod fake_provider;
pub mod latency_proxy;
pub mod server_process;
pub mod test_server;
pub mod voter;

pub use abortable_request::AbortableRequest;
pub use admin::TestAdmin;
pub use browser::{BrowserPage, Theme, open_page};
pub use catalog::{sample_spec, test_catalog};
pub use fake_protocol::{FakePart, FakeProtocol};
pub use fake_provider::{FakeBodyStep, FakeProvider, FakeResponse};
pub use latency_proxy::LatencyProxy;
pub use server_process::TestServerProcess;
pub use test_server::TestServer;
pub use voter::TestVoter;

/// The tests' own clients use no TLS, but want to know whose they would use.
#[allow(unsafe_code)]
#[ctor::ctor(unsafe)]
fn choose_cryptography() {
    let _ = rustls::crypto::ring::default_provider().install_default();
}
