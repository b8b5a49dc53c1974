//! Fuzz entry point: responses of an embedder.

use super::super::Pauses;
use super::{Address, Client, Config};
use std::sync::LazyLock;
use std::time::Duration;

static CLIENT: LazyLock<Client> = LazyLock::new(|| {
    let config = Config {
        address: Address::parse("http://127.0.0.1:1/v1").expect("an address"),
        model: "m".to_owned(),
        dimensions: 2,
        key: None,
        batch: 32,
        timeout: Duration::from_secs(1),
        recall_timeout: Duration::from_secs(1),
        expired: false,
        pauses: Pauses::default(),
    };
    Client::new(&config).expect("a client")
});

/// Reads the body of a response to two texts. It has a usable vector for each.
pub fn read(bytes: &[u8]) {
    match CLIENT.read(bytes, 2) {
        Ok(vectors) => {
            assert_eq!(vectors.len(), 2);
            assert!(vectors.iter().all(|of| of.len() == 2 && of.iter().all(|number| number.is_finite())));
            assert!(vectors.iter().all(|of| of.iter().any(|number| *number != 0.0)));
        }
        Err(why) => assert!(!why.what.is_empty()),
    }
}
