//! `/api/sandbox`: what runs of the sandbox leave behind.

pub(in crate::web) mod drafts;
pub(in crate::web) mod runs;
