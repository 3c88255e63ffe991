//! The admin's API: every answer it gives.

mod access;
mod catalog;
mod imports;
mod seeding;
