//! The section `[engine]`.

use crate::engine::activation::Params;
use crate::engine::recall;
use crate::engine::{self};
use crate::graph;
use crate::graph::builder::WeightRange;
use serde::Deserialize;

/// How signals spread and hits are ranked. Every field is described in `config/default.toml`.
#[derive(Debug, Clone, Deserialize)]
#[expect(missing_docs, reason = "each is documented where it is set, in config/default.toml")]
pub struct Config {
    pub text_weight: f32,
    pub top_k_max: usize,
    pub weight_floor: f32,
    pub weight_cap: f32,
    pub recall: Profile,
    pub reference: Profile,
}

/// The numbers of a profile.
#[derive(Debug, Clone, Copy, Deserialize)]
#[expect(missing_docs, reason = "each is documented where it is set, in config/default.toml")]
pub struct Profile {
    pub threshold: f32,
    pub decay: f32,
    pub max_depth: u8,
    pub cap: f32,
}

impl Profile {
    const fn over(self, params: Params) -> Params {
        Params {
            threshold: self.threshold,
            decay: self.decay,
            max_depth: self.max_depth,
            cap: self.cap,
            ..params
        }
    }
}

impl Config {
    /// The rules by which questions are answered.
    ///
    /// # Errors
    /// For a number outside its range.
    pub fn rules(&self) -> Result<recall::Config, engine::Error> {
        let (recall, reference) = (self.recall.over(Params::RECALL), self.reference.over(Params::REFERENCE));
        recall::Config::new(recall, reference, self.text_weight, self.top_k_max)
    }

    /// Between what effective weights lie.
    ///
    /// # Errors
    /// For a number outside its range.
    pub fn range(&self) -> Result<WeightRange, graph::Error> {
        WeightRange { floor: self.weight_floor, cap: self.weight_cap }.checked()
    }
}
