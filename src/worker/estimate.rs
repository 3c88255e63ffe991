//! What missing builds may cost: as much as earlier builds of the same model.

use sqlx::PgConnection;

use crate::arena::builds::BuildSlot;
use crate::arena::catalog::{self, ListedModel};
use crate::arena::jobs;
use crate::generate::cost::{MicroDollars, TYPICAL_USAGE, cost};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Estimate {
    pub cost: MicroDollars,
    /// Builds whose price is not known. `cost` does not include them.
    pub unknown: usize,
}

pub(super) async fn estimate(connection: &mut PgConnection, slots: &[BuildSlot]) -> sqlx::Result<Estimate> {
    let models = catalog::models(&mut *connection).await?;
    let averages = jobs::average_costs(connection).await?;
    let average = |listed: &ListedModel| {
        let known = averages.get(&listed.model.key).copied();
        known.or_else(|| cost(listed.model.prices, &TYPICAL_USAGE).map(|cost| cost.0))
    };
    let mut estimate = Estimate::default();
    for slot in slots {
        match models.iter().find(|listed| listed.model.key == slot.model).and_then(average) {
            Some(micros) => estimate.cost.0 = estimate.cost.0.saturating_add(micros),
            None => estimate.unknown += 1,
        }
    }
    Ok(estimate)
}
