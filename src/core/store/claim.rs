//! Claims of attempts on memories: removal, and resolution where two attempts hold one memory.

use super::catalogue::{ATTEMPT_CLAIMS, ATTEMPT_UNMARK};
use super::encode::list;
use super::error::Error;
use super::memory::keyed;
use super::tx::Tx;
use crate::domain::attempt::{Mark, keeper};
use crate::domain::ids::MemoryKey;
use serde::Deserialize;

#[derive(Deserialize)]
struct Removed {
    removed: i64,
}

/// Resolves claims of several attempts on the same memories, which are locked here: the earliest attempt keeps each.
/// Returns (memory, attempt) for each removed claim.
pub(super) async fn resolve<'k>(
    tx: &mut Tx,
    memories: &[&'k MemoryKey],
) -> Result<Vec<(&'k MemoryKey, String)>, Error> {
    #[derive(Deserialize)]
    struct Row {
        /// Index among the memories.
        memory: usize,
        /// Attempt, element id of the claim, start of the attempt.
        claims: Vec<(String, String, Option<String>)>,
    }
    if memories.is_empty() {
        return Ok(Vec::new());
    }
    let rows: Vec<Row> = tx.rows(keyed(ATTEMPT_CLAIMS.call(), memories.iter().copied())).await?;
    let (mut lost, mut marks) = (Vec::new(), Vec::new());
    for Row { memory, claims } in rows {
        let Some(memory) = memories.get(memory) else { continue };
        let started = |text: &Option<String>| text.as_ref().and_then(|ms| ms.parse().ok());
        let all: Vec<Mark> = claims
            .iter()
            .map(|(attempt, _, text)| Mark { attempt: attempt.clone(), started: started(text) })
            .collect();
        let Some(keeper) = keeper(&all) else { continue };
        for (attempt, mark, _) in claims.into_iter().filter(|(attempt, ..)| *attempt != keeper.attempt) {
            lost.push((*memory, attempt));
            marks.push(mark);
        }
    }
    let marks: Vec<&str> = marks.iter().map(String::as_str).collect();
    unmark(tx, &marks, true).await?;
    Ok(lost)
}

/// Removes claims by their element ids; returns how many existed.
pub(super) async fn unmark(tx: &mut Tx, marks: &[&str], conflict: bool) -> Result<i64, Error> {
    if marks.is_empty() {
        return Ok(0);
    }
    let call = ATTEMPT_UNMARK.call().set("mark", list(marks.iter().copied())).set("conflict", conflict);
    let Removed { removed } = tx.only(call).await?;
    Ok(removed)
}
