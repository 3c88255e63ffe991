//! The tables hold what is known of the game.

use craft::{ItemId, block_drops, recipes};

#[test]
fn every_item_is_found_by_its_id() {
    assert_eq!(ItemId::all().filter(|item| item.potion().is_none()).count(), 975);
    for item in ItemId::all() {
        assert_eq!(ItemId::of(item.id()), Some(item));
        assert_eq!(ItemId::of(&format!("minecraft:{}", item.id())), Some(item));
        item.fuel_ticks();
        item.remainder();
    }
    assert!(recipes().len() > 600);
    assert_eq!(block_drops("stone", None, false)[0].item.id(), "cobblestone");
}
