//! The words the tests are written in.

pub mod browser;
pub mod db;
pub mod site;
pub mod voter;

pub use browser::{Page, Theme, page};
pub use site::Site;
pub use voter::Voter;
