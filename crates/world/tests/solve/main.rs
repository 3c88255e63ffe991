//! Reference solvers: they see all of the world, act by compact actions alone, and show that tasks can be solved.
//!
//! With `WRITE_DEMOS=1` in the environment, the recordings of what they do are written beside the tasks.

mod building;
mod compact;
mod crafting;
mod decoration;
mod demos;
mod explore;
mod fill;
mod finding;
mod hands;
mod look;
mod mining;
mod motion;
#[cfg(test)]
mod moves;
mod nearest;
mod path;
mod screens;
mod solver;
mod tool_use;
mod walk;
