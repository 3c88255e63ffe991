//! The digests that stand for voters' networks.
//!
//! Each day has a key of its own, which all servers share. Once it is thrown away, nobody can tell which network a
//! digest of that day stood for, nor whether two days' digests stood for the same one.

use std::sync::{Mutex, PoisonError};

use sqlx::{PgConnection, PgPool};
use time::{Date, Duration};

use crate::client_network::ClientNetwork;

/// How long a network can be recognised: long enough to notice a flood, and to withdraw it as one.
const RETENTION: Duration = Duration::days(30);

/// A network on one day.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NetworkDigest(pub [u8; 16]);

/// The key of the current day.
#[derive(Default)]
pub struct NetworkKeys {
    latest: Mutex<Option<(Date, NetworkKey)>>,
}

#[derive(Clone, Copy)]
pub struct NetworkKey([u8; 32]);

impl NetworkKey {
    pub fn digest(&self, network: ClientNetwork) -> NetworkDigest {
        let mut digest = [0; 16];
        digest.copy_from_slice(&network.digest(&self.0)[..16]);
        NetworkDigest(digest)
    }
}

impl NetworkKeys {
    pub async fn of_day(&self, connection: &mut PgConnection, day: Date) -> sqlx::Result<NetworkKey> {
        let latest = *self.latest.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, key)) = latest.filter(|(known, _)| *known == day) {
            return Ok(key);
        }
        let key = find_or_insert(connection, day).await?;
        *self.latest.lock().unwrap_or_else(PoisonError::into_inner) = Some((day, key));
        Ok(key)
    }
}

async fn find_or_insert(connection: &mut PgConnection, day: Date) -> sqlx::Result<NetworkKey> {
    let new: [u8; 32] = rand::random();
    // The update changes nothing, but returns the key that another server has made.
    let key = sqlx::query_scalar!(
        "
        INSERT INTO network_keys (day, key) VALUES ($1, $2)
        ON CONFLICT (day) DO UPDATE SET day = excluded.day
        RETURNING key
        ",
        day,
        &new,
    )
    .fetch_one(connection)
    .await?;
    let key =
        key.try_into().map_err(|_| sqlx::Error::Decode("a network key does not have 32 bytes".into()))?;
    Ok(NetworkKey(key))
}

/// Throws old keys away.
pub async fn purge(pool: &PgPool, today: Date) -> sqlx::Result<()> {
    sqlx::query!("DELETE FROM network_keys WHERE day < $1", today - RETENTION).execute(pool).await?;
    Ok(())
}
