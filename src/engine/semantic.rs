//! Semantic similarity of nodes and queries.
//!
//! | module | contents |
//! |---|---|
//! | [`trigram`] | spelling similarity of texts |
//! | [`cooccurrence`] | context similarity of nodes, by random walks |
//! | [`synonyms`] | query expansion by synonyms |
//! | [`pipeline`] | the three combined: the semantic score D2 |

pub mod cooccurrence;
pub mod pipeline;
pub mod synonyms;
pub mod trigram;

#[expect(clippy::cast_possible_truncation, reason = "scores and logarithms of counts, rounded once")]
fn narrow(value: f64) -> f32 {
    value as f32
}
