//! Terrains for pictures of the block world.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use world::Terrains;

/// The terrains that all pictures now in work begin on. Making one takes a second and tens of megabytes, so that a page of
/// pictures shares them, and the last picture drops them.
pub(super) fn shared_terrains() -> Arc<Terrains> {
    static SHARED: Mutex<Weak<Terrains>> = Mutex::new(Weak::new());
    let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
    shared.upgrade().unwrap_or_else(|| {
        let terrains = Arc::new(Terrains::default());
        *shared = Arc::downgrade(&terrains);
        terrains
    })
}
