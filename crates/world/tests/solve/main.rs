//! Reference solvers: they see all of the world, act by compact actions alone, and show that tasks can be solved.
//!
//! With `WRITE_DEMOS=1` in the environment, the recordings of what they do are written beside the tasks.

mod building;
mod compact;
mod crafting;
mod demos;
mod fill;
mod hands;
mod look;
#[cfg(test)]
mod moves;
mod path;
mod screens;
mod solver;
mod walk;
