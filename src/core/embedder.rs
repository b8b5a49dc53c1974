//! A server that computes embeddings of texts, by OpenAI's protocol (`POST /v1/embeddings`).
//!
//! The job embed sends the texts of memories, a recall the words of its question. A recall waits for a short time only
//! and is then answered without an embedding; its call goes on, and vectors of the last questions are kept. After a failure
//! the server is not called for a while, which doubles with each further failure: counted for questions and for the job
//! apart, since a recall waits for less than the job does.
//!
//! # Design notes
//! The client blocks, so each call has a thread of its own. At most eight are for questions, so an embedder that does not
//! answer holds that many threads, each no longer than its time-out.
//!
//! The body of an error response is not read: servers repeat texts and parts of keys in it, and neither belongs in a log.

mod address;
mod client;
mod pause;
mod questions;
mod request_size;

pub use address::Address;
#[cfg(any(test, fuzzing))]
#[doc(hidden)]
pub use client::fuzzing::read as read_response;
pub use client::{Failure, FailureKind};

use client::Client;
use ebb_engine::text::fold::cut;
use pause::Pause;
use questions::Questions;
use request_size::RequestSize;
use secrecy::SecretString;
use std::sync::Arc;
use std::time::Duration;
use tracing::warn;

/// Most bytes of a text that are embedded: models read no more than some thousand tokens.
pub const TEXT_BYTES_MAX: usize = 8_192;
/// A text that every embedder accepts. If it refuses this one too, the fault is not in the texts.
const PROBE: &str = "memory";

/// Pauses after failures: the first and the longest of each kind.
#[derive(Debug, Clone, Copy)]
pub struct Pauses {
    /// Of the job.
    pub job: [Duration; 2],
    /// Of questions.
    pub questions: [Duration; 2],
}

impl Default for Pauses {
    fn default() -> Self {
        Self {
            job: [Duration::from_secs(30), Duration::from_secs(3_600)],
            questions: [Duration::from_secs(5), Duration::from_secs(60)],
        }
    }
}

/// Settings of an embedder.
#[derive(Debug, Clone)]
pub struct Config {
    pub address: Address,
    pub model: String,
    /// Numbers of each embedding.
    pub dimensions: usize,
    pub key: Option<SecretString>,
    /// Texts of one request of the job, at most.
    pub batch: usize,
    /// Time-out of a request.
    pub timeout: Duration,
    /// Time that a recall waits for the embedding of its question.
    pub recall_timeout: Duration,
    /// Whether expired memories are embedded, because mirrors hold them.
    pub expired: bool,
    pub pauses: Pauses,
}

/// The client of an embedder.
#[derive(Debug)]
pub struct Embedder {
    config: Config,
    client: Arc<Client>,
    questions: Questions,
    job_pause: Pause,
    request_size: RequestSize,
}

impl Embedder {
    /// Creates the client; the first text opens the first connection.
    ///
    /// # Errors
    /// A sentence, if the key cannot be sent or the system has no certificates for TLS.
    pub fn new(config: Config) -> Result<Self, String> {
        let client = Arc::new(Client::new(&config)?);
        let questions = Questions::new(Arc::clone(&client), config.timeout, config.pauses.questions);
        let (job_pause, request_size) = (Pause::new(config.pauses.job), RequestSize::new(config.batch));
        Ok(Self { config, client, questions, job_pause, request_size })
    }

    /// Settings.
    #[must_use]
    pub const fn config(&self) -> &Config {
        &self.config
    }

    /// Number of texts that the job is to send at once: as many as the embedder has answered.
    #[must_use]
    pub fn texts_at_once(&self) -> usize {
        self.request_size.texts()
    }

    /// Embeddings of texts, in their order.
    pub async fn embed(&self, texts: Vec<String>) -> Result<Vec<Vec<f64>>, Failure> {
        let sent = texts.len();
        let answer = self.call(texts).await;
        match &answer {
            Ok(_) => self.request_size.grow(),
            Err(_) => self.request_size.shrink(sent),
        }
        answer
    }

    /// Embeds a text that every embedder accepts.
    pub async fn probe(&self) -> Result<(), Failure> {
        self.call(vec![PROBE.to_owned()]).await.map(drop)
    }

    async fn call(&self, texts: Vec<String>) -> Result<Vec<Vec<f64>>, Failure> {
        let (client, timeout) = (Arc::clone(&self.client), self.config.timeout);
        let answer = tokio::task::spawn_blocking(move || client.embed(&texts, timeout)).await;
        answer.unwrap_or_else(|_| Err(self.client.panicked()))
    }

    /// Embedding of a question; `None` if it was not there in time, or failed a moment ago.
    pub async fn question(&self, text: &str) -> Option<Arc<[f32]>> {
        let limit = self.config.recall_timeout;
        match tokio::time::timeout(limit, self.questions.vector(cut(text, TEXT_BYTES_MAX))).await {
            Ok(vector) => vector,
            Err(_) => {
                self.questions.begin_pause(&self.client.late(limit));
                None
            }
        }
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
