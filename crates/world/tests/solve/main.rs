//! Reference solvers: they see all of the world, act by compact actions alone, and show that tasks can be solved.
//!
//! With `WRITE_DEMOS=1` in the environment, the recordings of what they do are written beside the tasks.

mod compact;
mod demos;
mod hands;
mod look;
#[cfg(test)]
mod moves;
mod path;
#[cfg_attr(not(doc), expect(dead_code, reason = "solvers of tasks with screens work them"))]
mod screens;
mod solver;
mod walk;
