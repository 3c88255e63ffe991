//! Reference solvers: they see all of the world, act by compact actions alone, and show that tasks can be solved.

mod compact;
mod hands;
mod look;
mod moves;
mod path;
mod screens;
mod solver;
mod walk;
