//! The grids that voters fetch. Many are read at once, and kept in memory.

use std::collections::HashMap;
use std::sync::Arc;

use moka::future::Cache;
use sqlx::PgPool;
use uuid::Uuid;

use crate::arena::batcher::{BatchConnection, BatchJob, Batcher};
use crate::arena::builds::{self, StoredGrid};

/// Of the grids in memory, compressed.
const CACHE_BYTES: u64 = 64 << 20;

/// Larger grids are read one by one, so that a batch cannot fill the memory.
const SMALL_GRID_BYTES: i32 = 8 << 10;

/// Cheap to clone.
#[derive(Clone)]
pub(in crate::arena) struct VoterGrids {
    pool: PgPool,
    /// By build.
    cached: Cache<Uuid, Arc<StoredGrid>>,
    read_small: Batcher<ReadSmallGrids>,
}

struct ReadSmallGrids;

impl VoterGrids {
    pub fn new(pool: PgPool) -> Self {
        let weigh = |_: &Uuid, grid: &Arc<StoredGrid>| grid.packed.len().try_into().unwrap_or(u32::MAX);
        Self {
            cached: Cache::builder().weigher(weigh).max_capacity(CACHE_BYTES).build(),
            read_small: Batcher::new(pool.clone(), ReadSmallGrids, 1),
            pool,
        }
    }

    /// The grid of a build.
    pub async fn get(&self, build: Uuid) -> sqlx::Result<Option<Arc<StoredGrid>>> {
        if let Some(grid) = self.cached.get(&build).await {
            return Ok(Some(grid));
        }
        let grid = match self.read_small.submit(build).await? {
            Some(grid) => grid,
            None => match builds::grid(&self.pool, build).await? {
                Some(grid) => grid,
                None => return Ok(None),
            },
        };
        let grid = Arc::new(grid);
        self.cached.insert(build, Arc::clone(&grid)).await;
        Ok(Some(grid))
    }
}

impl BatchJob for ReadSmallGrids {
    /// A build.
    type Request = Uuid;
    /// None if its grid is not small.
    type Answer = Option<StoredGrid>;

    async fn run(
        &self,
        connection: &mut BatchConnection,
        builds: &[Uuid],
    ) -> sqlx::Result<Vec<Self::Answer>> {
        let rows = sqlx::query!(
            "
            SELECT id, digest, grid
            FROM unnest((SELECT $1::uuid[])) AS asked (build)
            CROSS JOIN LATERAL (SELECT id, digest, grid FROM builds WHERE id = build OFFSET 0) builds
            WHERE octet_length(grid) <= $2
            ",
            builds,
            SMALL_GRID_BYTES,
        )
        .fetch_all(connection.get().await?)
        .await?;
        let grids = rows.into_iter().map(|row| (row.id, StoredGrid { digest: row.digest, packed: row.grid }));
        let grids: HashMap<_, _> = grids.collect();
        Ok(builds.iter().map(|build| grids.get(build).cloned()).collect())
    }
}
