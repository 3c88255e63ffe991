//! Assessments: an agent is put through tasks of the block world, and scored.
//!
//! An [`AssessmentOrder`](order::AssessmentOrder) says which agent and which tasks; it is checked against the tasks that
//! can be run here before anything begins. A [`run`] is the agent at one task: it is sent the task's text, and then, step
//! by step, a picture of what its player sees, and it answers each with an action. Whatever it answers, the run goes on;
//! an answer that is late or cannot be read is a step without an action, counted and shown. [`report`] puts the scores
//! of runs into the shape in which the results of this family of benchmarks are published.
//!
//! Nothing here touches the database.

pub mod messages;
pub mod order;
pub mod report;
pub mod reported;
pub mod run;
pub mod scenario;
mod simulation;
mod world_threads;

pub use self::world_threads::WorldThreads;
