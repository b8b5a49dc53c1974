//! What texts have in common.

pub mod trigram;
