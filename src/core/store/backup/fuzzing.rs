//! Fuzz entry point: values of a backup.

use super::BackupRow;
use super::value::{decode_all, encode_all, is_same};

impl BackupRow {
    /// Checks that the values of a valid row are the same in a backup that is made after a restore.
    pub fn check_values(&self) {
        let (Self::Node { values, .. } | Self::Relationship { values, .. }) = self;
        let decoded = decode_all(values).expect("a valid row");
        // A file may have values that a backup refuses, such as an instant of a repeated hour.
        let Ok(encoded) = encode_all(&decoded) else { return };
        let again = decode_all(&encoded).expect("an encoded value").value;
        assert_eq!(again.len(), decoded.value.len());
        let is_kept = |(name, value)| again.get(name).is_some_and(|of| is_same(value, of));
        assert!(decoded.value.iter().all(is_kept), "{values:?}");
    }
}
