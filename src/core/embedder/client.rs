//! The request to an embedder and the checks of its response.
//!
//! A response counts only whole: a vector for each text, by its index, each with the configured number of finite numbers
//! that are not all zero. Its size is bounded, and a redirect is not followed, since a key would go with it.

use super::{Address, Config};
use crate::domain::similarity::fault;
use FailureKind::{Refused, Unavailable, Unusable};
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use ureq::http::StatusCode;
use ureq::tls::{Certificate, RootCerts, TlsConfig};

#[cfg(any(test, fuzzing))]
pub(crate) mod fuzzing;

/// Bytes of one number of a response, at most: sign, digits, exponent, comma and spaces.
const NUMBER_BYTES: u64 = 40;
/// Bytes of a response besides its numbers.
const FRAME_BYTES: u64 = 64 << 10;

/// The reason why there are no embeddings, and what to do.
#[derive(Debug, thiserror::Error)]
#[error("{what}; {fix}")]
pub struct Failure {
    pub kind: FailureKind,
    pub what: String,
    pub fix: &'static str,
}

/// Meaning of a failure for the caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureKind {
    /// It does not answer, or is overloaded: later it may.
    Unavailable,
    /// Its answers are of no use until the configuration changes.
    Unusable,
    /// It does not answer these texts; others it may.
    Refused,
}

/// A connection to an embedder.
pub(super) struct Client {
    agent: ureq::Agent,
    address: Address,
    url: String,
    model: String,
    dimensions: usize,
    /// The header with the key.
    authorization: Option<SecretString>,
}

/// Without the agent, and without the key.
impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("url", &self.url).field("model", &self.model).finish_non_exhaustive()
    }
}

#[derive(Serialize)]
struct Request<'a> {
    model: &'a str,
    input: &'a [String],
}

#[derive(Deserialize)]
struct Response {
    data: Vec<Item>,
}

#[derive(Deserialize)]
struct Item {
    index: usize,
    embedding: Vec<f64>,
}

impl Client {
    pub(super) fn new(config: &Config) -> Result<Self, String> {
        let mut settings = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .proxy(None);
        if config.address.is_tls() {
            settings = settings.tls_config(tls()?);
        }
        let authorization = config.key.as_ref().map(|key| bearer(key.expose_secret())).transpose()?;
        Ok(Self {
            agent: settings.build().new_agent(),
            address: config.address.clone(),
            url: format!("{}/embeddings", config.address),
            model: config.model.clone(),
            dimensions: config.dimensions,
            authorization,
        })
    }

    /// Embeddings of texts, in their order. Blocks up to `timeout`.
    pub(super) fn embed(&self, texts: &[String], timeout: Duration) -> Result<Vec<Vec<f64>>, Failure> {
        let body = Request { model: &self.model, input: texts };
        let mut request = self.agent.post(&self.url).config().timeout_global(Some(timeout)).build();
        if let Some(authorization) = &self.authorization {
            request = request.header("authorization", authorization.expose_secret());
        }
        let mut response = request.send_json(body).map_err(|why| self.unreached(&why, timeout))?;
        let status = response.status();
        if !status.is_success() {
            return Err(self.refused(status));
        }
        let numbers = texts.len() as u64 * self.dimensions as u64;
        let limit = FRAME_BYTES + numbers * NUMBER_BYTES;
        let body = response.body_mut().with_config().limit(limit).read_to_vec();
        let body = body.map_err(|why| match why {
            ureq::Error::BodyExceedsLimit(_) => {
                self.failure(Unusable, &format!("sent more than {limit} bytes for {numbers} numbers"), MODEL)
            }
            why => self.unreached(&why, timeout),
        })?;
        self.read(&body, texts.len())
    }

    /// The vectors in the body of a response.
    fn read(&self, body: &[u8], texts: usize) -> Result<Vec<Vec<f64>>, Failure> {
        // The error of the parser may quote the response, and so a text.
        let response: Response = serde_json::from_slice(body).map_err(|_| {
            self.failure(Refused, "sent no JSON with data[].index and data[].embedding of numbers", MODEL)
        })?;
        self.check(response, texts)
    }

    /// The vectors of a response in the order of the texts.
    fn check(&self, response: Response, texts: usize) -> Result<Vec<Vec<f64>>, Failure> {
        let unusable = |what: String| self.failure(Unusable, &what, MODEL);
        if response.data.len() != texts {
            return Err(unusable(format!("sent {} embeddings for {texts} texts", response.data.len())));
        }
        let mut vectors: Vec<Option<Vec<f64>>> = vec![None; texts];
        for Item { index, embedding } in response.data {
            let found = embedding.len();
            if found != self.dimensions {
                return Err(unusable(format!(
                    "sent embeddings of {found} numbers, and embedding.dimensions is {}",
                    self.dimensions
                )));
            }
            if let Some(fault) = fault(embedding.iter().copied()) {
                return Err(self.failure(Refused, &format!("sent an embedding that {fault}"), MODEL));
            }
            match vectors.get_mut(index) {
                Some(place @ None) => *place = Some(embedding),
                _ => return Err(unusable(format!("sent the index {index} twice, or for no text"))),
            }
        }
        Ok(vectors.into_iter().flatten().collect())
    }

    /// A response without embeddings.
    fn refused(&self, status: StatusCode) -> Failure {
        let (kind, fix) = match status.as_u16() {
            300..=399 => (Unusable, "set embedding.url to the address it leads to"),
            401 | 403 => (Unusable, "check the key in embedding.api_key_file"),
            404 | 405 => (
                Unusable,
                "check embedding.url, to which /embeddings is appended, and that the server has embedding.model",
            ),
            408 | 429 | 502..=504 => {
                (Unavailable, "it is tried again; to send less at once lower embedding.batch")
            }
            _ => (Refused, "see its log"),
        };
        self.failure(kind, &format!("answered {status}"), fix)
    }

    /// A request without a response.
    fn unreached(&self, why: &ureq::Error, timeout: Duration) -> Failure {
        match why {
            ureq::Error::Timeout(_) => self.late(timeout),
            why => {
                let what = format!("cannot be reached: {why}");
                self.failure(Unavailable, &what, "check that it runs, and embedding.url")
            }
        }
    }

    /// No response in time.
    pub(super) fn late(&self, timeout: Duration) -> Failure {
        let what = format!("did not answer within {} ms", timeout.as_millis());
        let fix = "check that it runs; if it is slow, raise embedding.timeout or embedding.recall_timeout, or lower \
                   embedding.batch";
        self.failure(Unavailable, &what, fix)
    }

    /// A request whose thread panicked.
    pub(super) fn panicked(&self) -> Failure {
        self.failure(Unusable, "could not be asked: the request panicked", "see the log, and report it")
    }

    fn failure(&self, kind: FailureKind, what: &str, fix: &'static str) -> Failure {
        Failure { kind, what: format!("the embedder at {} {what}", self.address), fix }
    }
}

const MODEL: &str = "check embedding.model and embedding.dimensions";

/// The header with a key.
fn bearer(key: &str) -> Result<SecretString, String> {
    match key.chars().all(|c| c.is_ascii_graphic()) {
        true => Ok(format!("Bearer {key}").into()),
        false => Err("the key in embedding.api_key_file has spaces or characters beyond ASCII".to_owned()),
    }
}

/// TLS by the driver's cryptography, and by the certificates that the system trusts.
fn tls() -> Result<TlsConfig, String> {
    let found = rustls_native_certs::load_native_certs().certs;
    if found.is_empty() {
        return Err(
            "the system has no certificates of authorities, which https needs; install them, such as the \
                    package ca-certificates, or set SSL_CERT_FILE"
                .to_owned(),
        );
    }
    let trusted: Vec<Certificate<'static>> =
        found.iter().map(|one| Certificate::from_der(one.as_ref()).to_owned()).collect();
    let cryptography = rustls::crypto::ring::default_provider();
    Ok(TlsConfig::builder()
        .root_certs(RootCerts::Specific(Arc::new(trusted)))
        .unversioned_rustls_crypto_provider(Arc::new(cryptography))
        .build())
}

#[cfg(test)]
mod tests {
    use super::super::Pauses;
    use super::*;

    fn client() -> Client {
        let address = Address::parse("http://127.0.0.1:1/v1").unwrap();
        let config = Config {
            address,
            model: "m".to_owned(),
            dimensions: 2,
            key: Some("k-1".to_owned().into()),
            batch: 32,
            timeout: Duration::from_secs(1),
            recall_timeout: Duration::from_secs(1),
            expired: false,
            pauses: Pauses::default(),
        };
        Client::new(&config).unwrap()
    }

    fn checked(json: &str) -> Result<Vec<Vec<f64>>, Failure> {
        client().check(serde_json::from_str(json).unwrap(), 2)
    }

    #[test]
    fn vectors_are_in_the_order_of_the_texts() {
        let json = r#"{"data": [{"index": 1, "embedding": [0, 1]}, {"index": 0, "embedding": [1, 0]}]}"#;
        assert_eq!(checked(json).unwrap(), [[1.0, 0.0], [0.0, 1.0]]);
    }

    #[test]
    fn an_answer_that_does_not_fit_the_texts_is_no_answer() {
        for (json, word) in [
            (r#"{"data": [{"index": 0, "embedding": [1, 0]}]}"#, "1 embeddings for 2 texts"),
            (
                r#"{"data": [{"index": 0, "embedding": [1, 0]}, {"index": 0, "embedding": [1, 0]}]}"#,
                "index 0",
            ),
            (
                r#"{"data": [{"index": 0, "embedding": [1, 0]}, {"index": 7, "embedding": [1, 0]}]}"#,
                "index 7",
            ),
            (
                r#"{"data": [{"index": 0, "embedding": [1]}, {"index": 1, "embedding": [1]}]}"#,
                "dimensions is 2",
            ),
        ] {
            let why = checked(json).unwrap_err();
            assert!(why.kind == Unusable && why.what.contains(word), "{why}");
        }
        let zero = r#"{"data": [{"index": 0, "embedding": [0, 0]}, {"index": 1, "embedding": [1, 0]}]}"#;
        assert_eq!(checked(zero).unwrap_err().kind, Refused);
    }

    #[test]
    fn a_status_says_what_to_do() {
        let client = client();
        for (status, word) in
            [(302, "leads to"), (401, "api_key_file"), (404, "embedding.model"), (429, "batch")]
        {
            let why = client.refused(StatusCode::from_u16(status).unwrap()).to_string();
            assert!(why.contains(word) && why.contains("http://127.0.0.1:1/v1"), "{why}");
        }
        assert_eq!(client.refused(StatusCode::BAD_REQUEST).kind, Refused);
        assert!(!format!("{client:?}").contains("k-1"));
        assert!(bearer("a b").is_err() && bearer("sk-1").is_ok());
    }
}
