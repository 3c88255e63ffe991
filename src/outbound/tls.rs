//! TLS for connections to other machines: rustls with ring, and the certificates of this machine.

use std::sync::{Arc, LazyLock};

use rustls::crypto::ring;
use rustls::{ClientConfig, RootCertStore};

pub(super) fn config() -> Result<ClientConfig, &'static rustls::Error> {
    TLS.as_ref().map(Clone::clone)
}

/// Trusts the certificates of the system, or the web's usual ones where the system has none. The provider is `ring`
/// because the alternative, aws-lc, takes minutes to build.
static TLS: LazyLock<Result<ClientConfig, rustls::Error>> = LazyLock::new(|| {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if roots.is_empty() {
        roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    }
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(config)
});
