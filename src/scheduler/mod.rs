//! When jobs run, and that each occurrence runs once.

pub mod driver;
pub mod due;
