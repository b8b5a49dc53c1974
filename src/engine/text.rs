//! Text search: tokenisation, document frequencies and BM25.
//!
//! | module | contents |
//! |---|---|
//! | [`fold`] | normal form of a text: composed, lower case |
//! | [`words`], [`stop`] | words and tokens; stop words |
//! | [`stem`] | the beginning that forms of a word share |
//! | [`situation`] | speaker and mention of time in a text |
//! | [`dates`] | dates in a question |
//! | [`duplicates`] | groups of texts in nearly the same words |
//! | [`ranking`] | BM25 over the contents of memories |
//!
//! No text is kept, only a 64-bit hash of each word.

pub mod dates;
pub mod duplicates;
pub mod fold;
pub mod mention;
pub(super) mod merge;
pub mod ranking;
pub mod situation;
pub mod stem;
pub mod stop;
pub mod words;
