//! The words the tests are written in.

pub mod browser;
pub mod db;
pub mod site;

pub use browser::{Page, Theme, page};
pub use site::Site;
