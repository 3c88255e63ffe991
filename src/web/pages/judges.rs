//! `/judges`: how good the judges are.
