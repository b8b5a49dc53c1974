//! Fuzz entry point: statement files.

use super::{Header, body};

/// Reads a statement file. Its header survives being written, and its body is the rest of the file.
pub fn read(bytes: &[u8]) {
    let Ok(file) = std::str::from_utf8(bytes) else { return };
    let (header, text) = (Header::of(file), body(file));
    assert!(file.ends_with(text) && !text.starts_with("//"));
    let written = written(&header) + text;
    assert_eq!(body(&written), text);
    let again = Header::of(&written);
    assert_eq!(Header { params: header.params.clone(), ..again }, header);
    assert!(header.params.iter().all(|(name, kind)| file.contains(name) && file.contains(kind)));
}

/// The header without its parameters: an incomplete parameter is left out when it is read.
fn written(header: &Header<'_>) -> String {
    let Header { purpose, mode, params: _, returns, bound, idempotent, law, clock, names, quarantine } =
        header;
    let fields = [
        ("purpose", purpose),
        ("mode", mode),
        ("returns", returns),
        ("bound", bound),
        ("idempotent", idempotent),
        ("law", law),
        ("clock", clock),
        ("names", names),
        ("quarantine", quarantine),
    ];
    let given = fields.iter().filter(|(_, value)| !value.is_empty());
    given.map(|(key, value)| format!("// {key}: {value}\n")).collect()
}
