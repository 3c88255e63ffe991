//! The admin API.

mod access;
mod catalog;
mod commands;
mod imports;
mod seeding;
mod selection;
