//! The kept inputs of fuzz targets as tests, so that a fault that was found once is found at every commit.

use std::fs;
use std::path::Path;

/// Reads every input that is kept in `tests/fuzz/corpus` for a target.
pub(crate) fn replay(target: &str, read: fn(&[u8])) {
    let kept = Path::new("tests/fuzz/corpus").join(target);
    let mut folders = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().map(|folder| folder.join(&kept));
    let folder = folders.find(|folder| folder.is_dir()).unwrap_or_else(|| panic!("no inputs of {target}"));
    let mut read_any = false;
    for input in fs::read_dir(folder).expect("a folder") {
        let path = input.expect("an input").path();
        eprintln!("{}", path.display());
        read(&fs::read(path).expect("a file"));
        read_any = true;
    }
    assert!(read_any, "no inputs of {target}");
}
