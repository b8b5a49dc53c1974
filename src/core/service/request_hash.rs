//! The hash that distinguishes a repeated request from another one under the same id.
//!
//! # Design notes
//! A retry may come after an upgrade, so the hash is of a JSON document whose keys are written here and in the
//! operations, independent of names in the code: SHA-256 of `{"operation": …, "request": …}`, keys sorted, numbers as
//! serde_json prints them, prefixed with the version of that form. Values that a retry does not repeat are left out:
//! instants and generated ids.

use crate::domain::ids::hex;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// Changed whenever the same request gets another document.
const VERSION: &str = "v1";

/// The hash of a request of an operation.
pub(super) fn request_hash(operation: &str, request: &Value) -> String {
    let document = json!({ "operation": operation, "request": request });
    format!("{VERSION}:{}", hex(&Sha256::digest(document.to_string().as_bytes())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_is_of_the_document_alone_and_stays_over_versions() {
        let one = json!({ "b": 1.0, "a": ["x", null] });
        let other = json!({ "a": ["x", null], "b": 1.0 });
        assert_eq!(request_hash("pin", &one), request_hash("pin", &other));
        assert_ne!(request_hash("pin", &one), request_hash("unpin", &one));
        let plain = Sha256::digest(br#"{"operation":"pin","request":{"a":["x",null],"b":1.0}}"#);
        let hex: String = plain.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(request_hash("pin", &one), format!("v1:{hex}"));
    }
}
