//! The helpers that tests are written with.

pub mod abortable_request;
pub mod admin;
pub mod browser;
pub mod catalog;
pub mod db;
pub mod fake_agent;
pub mod fake_batches;
pub mod fake_captcha;
pub mod fake_pictures;
pub mod fake_protocol;
pub mod fake_provider;
pub mod judgements;
pub mod latency_proxy;
pub mod layout;
pub mod log_buffer;
pub mod server_process;
pub mod test_server;
pub mod voter;

pub use abortable_request::AbortableRequest;
pub use admin::TestAdmin;
pub use browser::{BrowserPage, Theme, open_page};
pub use catalog::{TestCatalog, sample_spec};
pub use fake_batches::{FakeBatchEnd, FakeBatchProvider, FakeResult, FakeSubmission};
pub use fake_protocol::{FakePart, FakeProtocol};
pub use fake_provider::{FakeBodyStep, FakeProvider, FakeResponse};
pub use latency_proxy::LatencyProxy;
pub use layout::{assert_fits, assert_fits_everywhere};
pub use log_buffer::TestLogBuffer;
pub use server_process::TestServerProcess;
pub use test_server::{TestServer, server_with_builds};
pub use voter::{CHOICES, TestVoter};

/// The tests' HTTP clients use no TLS, but need a default provider for it.
#[allow(unsafe_code)]
#[ctor::ctor(unsafe)]
fn choose_cryptography() {
    let _ = rustls::crypto::ring::default_provider().install_default();
}
