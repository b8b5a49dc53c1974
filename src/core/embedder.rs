//! A server that computes embeddings of texts, by OpenAI's protocol (`POST /v1/embeddings`).
//!
//! The job embed sends the texts of memories, a recall the words of its question. A recall waits for a short time only
//! and is then answered without an embedding; vectors of the last questions are kept. After a failure the server is not
//! called for a while, which doubles with each further failure: counted for questions and for the job apart, since their
//! time-outs differ.
//!
//! # Design notes
//! The client blocks, so each call has a thread of its own. At most four are for questions, so an embedder that does not
//! answer holds that many threads, each no longer than its time-out.
//!
//! The body of an error response is not read: servers repeat texts and parts of keys in it, and neither belongs in a log.

mod address;
mod client;
mod pause;
mod questions;

pub use address::Address;
pub use client::{Failure, FailureKind};

use client::Client;
use pause::Pause;
use questions::Questions;
use secrecy::SecretString;
use std::sync::Arc;
use std::time::Duration;
use tracing::warn;

/// Most bytes of a text that are embedded: models read no more than some thousand tokens.
pub const TEXT_BYTES_MAX: usize = 8_192;
/// A text that every embedder accepts. If it refuses this one too, the fault is not in the texts.
const PROBE: &str = "memory";
/// Pause of the job after a failure, the first and the longest.
const JOB_PAUSE: [Duration; 2] = [Duration::from_secs(30), Duration::from_secs(3_600)];

/// Settings of an embedder.
#[derive(Debug, Clone)]
pub struct Config {
    pub address: Address,
    pub model: String,
    /// Numbers of each embedding.
    pub dimensions: usize,
    pub key: Option<SecretString>,
    /// Texts of one request of the job.
    pub batch: usize,
    /// Time-out of a request of the job.
    pub timeout: Duration,
    /// Time that a recall waits for the embedding of its question.
    pub recall_timeout: Duration,
    /// Whether expired memories are embedded, because mirrors hold them.
    pub expired: bool,
}

/// The client of an embedder.
#[derive(Debug)]
pub struct Embedder {
    config: Config,
    client: Arc<Client>,
    questions: Questions,
    job_pause: Pause,
}

impl Embedder {
    /// Creates the client; the first text opens the first connection.
    ///
    /// # Errors
    /// A sentence, if the key cannot be sent or the system has no certificates for TLS.
    pub fn new(config: Config) -> Result<Self, String> {
        let client = Arc::new(Client::new(&config)?);
        let questions = Questions::new(Arc::clone(&client), config.recall_timeout);
        Ok(Self { config, client, questions, job_pause: Pause::new(JOB_PAUSE) })
    }

    /// Settings.
    #[must_use]
    pub const fn config(&self) -> &Config {
        &self.config
    }

    /// Embeddings of texts, in their order.
    pub async fn embed(&self, texts: Vec<String>) -> Result<Vec<Vec<f64>>, Failure> {
        let (client, timeout) = (Arc::clone(&self.client), self.config.timeout);
        let answer = tokio::task::spawn_blocking(move || client.embed(&texts, timeout)).await;
        answer.unwrap_or_else(|_| Err(self.client.panicked()))
    }

    /// Embeds a text that every embedder accepts.
    pub async fn probe(&self) -> Result<(), Failure> {
        self.embed(vec![PROBE.to_owned()]).await.map(drop)
    }

    /// Embedding of a question; `None` if it was not there in time, or failed a moment ago.
    pub async fn question(&self, text: &str) -> Option<Arc<[f32]>> {
        tokio::time::timeout(self.config.recall_timeout, self.questions.vector(cut(text))).await.ok()?
    }

    /// The reason why the job does not call the embedder.
    #[must_use]
    pub fn pause_reason(&self) -> Option<String> {
        let left = self.job_pause.left()?;
        Some(format!(
            "the embedder at {} failed before; it is tried again in {} s",
            self.config.address,
            left.as_secs() + 1
        ))
    }

    /// Begins a pause of the job after a failure.
    pub fn begin_pause(&self, why: &Failure) {
        let pause_s = self.job_pause.begin().as_secs();
        warn!(%why, pause_s, "memories are not embedded during a pause");
    }

    /// Ends the pause of the job after a success.
    pub fn end_pause(&self) {
        self.job_pause.end();
    }
}

/// The part of a text that is embedded.
#[must_use]
pub fn cut(text: &str) -> &str {
    let mut end = text.len().min(TEXT_BYTES_MAX);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_is_cut_between_two_characters() {
        assert_eq!(cut("short"), "short");
        let long = format!("x{}", "ä".repeat(TEXT_BYTES_MAX));
        assert_eq!(cut(&long).len(), TEXT_BYTES_MAX - 1);
        assert!(long.starts_with(cut(&long)));
    }
}
