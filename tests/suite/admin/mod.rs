//! The admin API.

mod access;
mod catalog;
mod imports;
mod seeding;
