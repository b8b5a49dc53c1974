//! Similarity of memories, and the checks that make embeddings comparable.
//!
//! Where memories carry embeddings, similarity is their cosine; otherwise it is that of their texts, on a scale of its
//! own: a threshold for embeddings would find near-duplicates only.

use super::ids::MemoryId;

/// Settings of the comparison.
#[derive(Debug, Clone, PartialEq)]
pub struct Similarity {
    /// Dimensions of every embedding; `None` if memories have none.
    pub dimensions: Option<usize>,
    /// Similarity of texts, `0 ..= 1`, strictly above which a new memory reinforces an old one.
    pub text_threshold: f64,
    /// The model that embeds memories whose writers gave no embedding; `None` if none does.
    pub model: Option<String>,
}

impl Similarity {
    /// Whether memories whose writers gave no embedding get one.
    #[must_use]
    pub const fn embeds(&self) -> bool {
        self.model.is_some()
    }
}

/// An embedding, checked.
#[derive(Debug, Clone, PartialEq)]
pub struct Embedding(Vec<f64>);

/// An embedding that cannot be compared with the others.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EmbeddingError {
    /// Numbers that are not finite or too great, or only zeros.
    #[error("the embedding of memory {id} {fault}")]
    Numbers { id: MemoryId, fault: &'static str },
    /// A wrong number of dimensions.
    #[error(
        "the embedding of memory {id} has {found} numbers, and embedding.dimensions is {wanted}: \
         embeddings of one database all have the same"
    )]
    Dimensions {
        id: MemoryId,
        found: usize,
        /// Dimensions required.
        wanted: usize,
    },
    /// Embeddings are not configured.
    #[error(
        "memory {id} has an embedding of {found} numbers, and embedding.dimensions is not set: set it to \
         {found}, then run: ebb init"
    )]
    NotConfigured { id: MemoryId, found: usize },
}

/// Why the numbers of an embedding cannot be compared, if they cannot.
pub fn fault(numbers: impl Iterator<Item = f64>) -> Option<&'static str> {
    // The index stores single precision, in which the length must be neither zero nor infinite.
    let length = numbers.map(|number| number * number).sum::<f64>().sqrt();
    if !length.is_finite() || length > f64::from(f32::MAX) {
        return Some("contains a number that is not finite, or too great");
    }
    (length < f64::from(f32::MIN_POSITIVE)).then_some("is all zeros, so it has no direction")
}

impl Embedding {
    /// An embedding of memory `id`, checked against the configuration.
    pub fn new(id: &MemoryId, numbers: Vec<f64>, similarity: &Similarity) -> Result<Self, EmbeddingError> {
        let (id, found) = (id.clone(), numbers.len());
        match similarity.dimensions {
            None => return Err(EmbeddingError::NotConfigured { id, found }),
            Some(wanted) if wanted != found => {
                return Err(EmbeddingError::Dimensions { id, found, wanted });
            }
            Some(_) => {}
        }
        match fault(numbers.iter().copied()) {
            Some(fault) => Err(EmbeddingError::Numbers { id, fault }),
            None => Ok(Self(numbers)),
        }
    }

    /// Its numbers.
    #[must_use]
    pub fn numbers(&self) -> &[f64] {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_embedding_of_another_dimension_is_refused_with_both_numbers() {
        let id = MemoryId::new("m").unwrap();
        let three = Similarity { dimensions: Some(3), text_threshold: 0.5, model: None };
        assert!(Embedding::new(&id, vec![0.0, 1.0, -2.5], &three).is_ok());
        let said = |numbers: &[f64], similarity: &Similarity| {
            Embedding::new(&id, numbers.to_vec(), similarity).unwrap_err().to_string()
        };
        assert!(
            said(&[1.0, 2.0], &three)
                .starts_with("the embedding of memory m has 2 numbers, and embedding.dimensions is 3")
        );
        assert!(said(&[1.0], &Similarity { dimensions: None, ..three.clone() }).contains("set it to 1"));
        assert!(said(&[0.0; 3], &three).contains("all zeros"));
        assert!(said(&[1.0, f64::NAN, 1.0], &three).contains("a number that is not finite"));
    }
}
