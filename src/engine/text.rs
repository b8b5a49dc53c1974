//! Texts as words: how they are cut, how rare they are, and which memories say most of what is asked.
//!
//! | | |
//! |---|---|
//! | [`fold`] | one form for each text: composed, lower case |
//! | [`words`], [`stop`] | runs of letters and digits; those that every text has |
//! | [`counts`] | in how many memories a word stands |
//! | [`ranking`] | BM25 over the contents of memories |
//!
//! No text is kept, only 64 bits of each word.

pub mod counts;
pub mod fold;
pub(super) mod merge;
pub mod ranking;
pub mod stop;
pub mod words;
