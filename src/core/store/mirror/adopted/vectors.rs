//! Embeddings of facts, read by themselves: see `cypher/adopted/vectors.cypher`.

use super::super::super::Store;
use super::super::super::catalogue::ADOPTED_VECTORS;
use super::super::super::cells::{columns, text};
use super::super::super::encode::list;
use super::super::super::error::Error;
use super::super::super::layouts::names;
use super::super::MirrorQuery;
use super::super::rows::vector;
use super::label::distinct;
use super::values::Values;
use std::collections::HashMap;

impl Store {
    /// Embeddings of the dimensions of the query, by the elements of their facts, which begin at nodes of a mapped label.
    pub async fn fact_vectors(
        &self,
        asked: &MirrorQuery,
        label: usize,
        elements: &[&str],
    ) -> Result<HashMap<String, Vec<f32>>, Error> {
        let Some(of) = asked.adopted(label) else { return Ok(HashMap::new()) };
        let read = distinct(of.fact_vectors());
        let call = || {
            let call = of.call(&ADOPTED_VECTORS).set("elements", list(elements.iter().copied()));
            call.set("read", names(read.iter().copied()))
        };
        let rows = self.table("adopted.vectors", call, &["element", "type", "values"]).await?;
        let embedding = |row| {
            let [element, kind, values] = columns(row);
            let values = Values::new(&read, values);
            let numbers = vector(values.get(of.fact_vector(&text(kind)?)?)?.clone())?;
            Some((text(element)?, numbers))
        };
        let known = rows.into_iter().filter_map(embedding);
        Ok(known.filter(|(_, numbers)| Some(numbers.len()) == asked.dimensions).collect())
    }
}
