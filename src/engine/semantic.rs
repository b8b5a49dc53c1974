//! What texts, and nodes, have in common.
//!
//! | | |
//! |---|---|
//! | [`trigram`] | how like two texts are spelt |
//! | [`cooccurrence`] | how like the company is that two nodes keep |
//! | [`synonyms`] | other words for the same |
//! | [`pipeline`] | all three made one: D2, how like a node is to a question in meaning |

pub mod cooccurrence;
pub mod pipeline;
pub mod synonyms;
pub mod trigram;

#[expect(clippy::cast_possible_truncation, reason = "scores and logarithms of counts, rounded once")]
fn narrow(value: f64) -> f32 {
    value as f32
}
