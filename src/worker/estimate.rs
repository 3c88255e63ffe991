//! What missing builds may cost: as much as earlier builds of the same model.

use std::collections::HashMap;

use sqlx::PgConnection;

use crate::arena::ModelKey;
use crate::arena::builds::BuildSlot;
use crate::arena::catalog;
use crate::arena::jobs;
use crate::generate::cost::{MicroDollars, TYPICAL_USAGE, cost};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Estimate {
    pub cost: MicroDollars,
    /// Builds whose price is not known. `cost` does not include them.
    pub unknown: usize,
}

/// What a build by each model may cost.
pub(super) struct BuildPrices(HashMap<ModelKey, MicroDollars>);

impl BuildPrices {
    pub async fn read(connection: &mut PgConnection) -> sqlx::Result<Self> {
        let models = catalog::models(&mut *connection).await?;
        let averages = jobs::average_costs(connection).await?;
        let price = |model: &catalog::Model| {
            let known = averages.get(&model.key).copied().map(MicroDollars);
            known.or_else(|| cost(model.prices, &TYPICAL_USAGE))
        };
        let prices =
            models.iter().filter_map(|listed| Some((listed.model.key.clone(), price(&listed.model)?)));
        Ok(Self(prices.collect()))
    }

    /// The prices of the models that cost a part of the list price.
    pub fn times(&self, parts: &HashMap<ModelKey, f64>) -> Self {
        let price = |(model, price): (&ModelKey, &MicroDollars)| {
            Some((model.clone(), MicroDollars((price.0 as f64 * parts.get(model)?) as u64)))
        };
        Self(self.0.iter().filter_map(price).collect())
    }

    pub fn estimate<'a>(&self, slots: impl IntoIterator<Item = &'a BuildSlot>) -> Estimate {
        let mut estimate = Estimate::default();
        for slot in slots {
            match self.0.get(&slot.model) {
                Some(price) => estimate.cost.0 = estimate.cost.0.saturating_add(price.0),
                None => estimate.unknown += 1,
            }
        }
        estimate
    }

    /// Splits builds into those that the money allows and the others. Builds are taken in their order up to the first
    /// that does not fit any more: taking cheaper ones from further behind would ask cheap models for more prompts
    /// than others. A build of unknown price is never taken, since nobody can say whether it fits.
    pub fn split(&self, slots: Vec<BuildSlot>, limit: MicroDollars) -> (Vec<BuildSlot>, Vec<BuildSlot>) {
        let (mut spent, mut is_full) = (0_u64, false);
        slots.into_iter().partition(|slot| {
            let Some(price) = self.0.get(&slot.model) else { return false };
            is_full |= spent.saturating_add(price.0) > limit.0;
            if !is_full {
                spent += price.0;
            }
            !is_full
        })
    }
}
