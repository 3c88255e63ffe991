//! Grids as they are before compression, for pictures and for clients that do not accept brotli. Each is unpacked once
//! for all who ask for it, as long as there is room.

use std::sync::Arc;

use axum::body::Bytes;
use moka::sync::Cache;

use crate::arena::builds::{CorruptGridError, StoredGrid};
use crate::work::WorkClient;
use voxel::Grid;
use voxel::codec;

/// Bytes of grids that are kept.
const CACHE_BYTES: u64 = 32 << 20;

/// Cheap to clone.
#[derive(Clone)]
pub struct UnpackedGrids {
    cached: Cache<GridKey, Bytes>,
}

/// Voters have entries of their own. Otherwise the time of an answer would tell a voter whether somebody has just looked
/// at the same build in the gallery, where its model is named.
#[derive(PartialEq, Eq, Hash)]
struct GridKey {
    is_for_voter: bool,
    digest: Vec<u8>,
}

impl Default for UnpackedGrids {
    fn default() -> Self {
        let weigh =
            |key: &GridKey, bytes: &Bytes| u32::try_from(key.digest.len() + bytes.len()).unwrap_or(u32::MAX);
        Self { cached: Cache::builder().weigher(weigh).max_capacity(CACHE_BYTES).build() }
    }
}

impl UnpackedGrids {
    /// The encoding of a grid, if it is cached.
    pub fn cached(&self, client: WorkClient, grid: &StoredGrid) -> Option<Bytes> {
        self.cached.get(&key(client, grid))
    }

    /// The encoding of a grid. This is heavy work: whoever asks for a grid that somebody else is unpacking waits for it
    /// and keeps a slot meanwhile.
    ///
    /// # Errors
    /// If the stored grid is damaged.
    pub fn unpack(&self, client: WorkClient, grid: &StoredGrid) -> Result<Bytes, Arc<CorruptGridError>> {
        self.cached.try_get_with(key(client, grid), || grid.encoding().map(Bytes::from))
    }

    /// The grid itself. This is heavy work.
    ///
    /// # Errors
    /// If the stored grid is damaged.
    pub fn open(&self, client: WorkClient, grid: &StoredGrid) -> Result<Grid, Arc<CorruptGridError>> {
        let encoding = self.unpack(client, grid)?;
        codec::decode(&encoding).map_err(|damage| Arc::new(damage.into()))
    }
}

fn key(client: WorkClient, grid: &StoredGrid) -> GridKey {
    GridKey { is_for_voter: client.is_voter(), digest: grid.digest.clone() }
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use voxel::GridSize;
    use voxel::codec::{CompressionLevel, Digest};

    use super::*;

    fn stored_grid() -> StoredGrid {
        let encoding = codec::encode(&Grid::empty(GridSize::G32));
        let digest = Digest::of(&encoding).0.to_vec();
        StoredGrid { digest, packed: codec::pack(&encoding, CompressionLevel::Fast) }
    }

    #[test]
    fn a_grid_is_unpacked_once_and_voters_do_not_learn_who_else_looks_at_it() {
        let address = IpAddr::from([192, 0, 2, 1]);
        let [voter, visitor] = [WorkClient::voter(address), WorkClient::visitor(address)];
        let (grids, grid) = (UnpackedGrids::default(), stored_grid());
        assert_eq!(grids.cached(visitor, &grid), None);
        let first = grids.unpack(visitor, &grid).unwrap();
        assert_eq!(grids.cached(visitor, &grid), Some(first.clone()));
        assert_eq!(grids.cached(voter, &grid), None);
        // The packed bytes are not read again.
        let unreadable = StoredGrid { packed: Vec::new(), ..grid };
        assert_eq!(grids.unpack(visitor, &unreadable).unwrap().as_ptr(), first.as_ptr());
        assert!(grids.open(visitor, &unreadable).is_ok());
        assert!(grids.open(voter, &unreadable).is_err(), "a failure is not kept for others");
    }
}
