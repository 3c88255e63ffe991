//! The number of files that this process may have open. Each connection is one.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tracing::warn;

/// Enough for all connections, and no more than macOS allows.
const WANTED: u64 = 10_240;

/// Fewer leave little room for visitors.
const FEW: u64 = 4096;

/// Kept for everything other than connections of visitors: the database, models, files.
const RESERVED: u64 = 256;

/// Raises the soft limit of this process, which is 1024 on many systems, as far as the system allows and it makes sense.
/// Returns the number of connections for which there is room.
pub fn raise_limit() -> usize {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    // None means that there is no limit.
    let mut open_files = current.unwrap_or(u64::MAX);
    let possible = WANTED.min(maximum.unwrap_or(u64::MAX));
    if open_files < possible {
        match setrlimit(Resource::Nofile, Rlimit { current: Some(possible), maximum }) {
            Ok(()) => open_files = possible,
            Err(error) => warn!("the limit of open files could not be raised from {open_files}: {error}"),
        }
    }
    if open_files < FEW {
        warn!(
            "this process may open only {open_files} files, which bounds the number of visitors at a time; \
             raise the limit (LimitNOFILE in systemd, `ulimit -Hn` in a shell)"
        );
    }
    connections(open_files)
}

fn connections(open_files: u64) -> usize {
    let reserved = RESERVED.min(open_files / 4);
    usize::try_from(open_files.min(WANTED) - reserved).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn some_files_are_kept_for_everything_else() {
        for (open_files, expected) in [(64, 48), (1024, 768), (10_240, 9984), (u64::MAX, 9984)] {
            assert_eq!(connections(open_files), expected, "{open_files}");
        }
    }
}
