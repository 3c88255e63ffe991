//! From where on something is unusual, for all rules.

/// In standard errors.
pub const THRESHOLD: f64 = 4.0;

/// A difference between two shares that needs no explanation.
pub const UNEXPLAINED: f64 = 0.05;
