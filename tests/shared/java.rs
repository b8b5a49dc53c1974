//! A managed server with settings that Ebb does not give: by a Java that adds them to the words of the server.

use std::path::{Path, PathBuf};

/// Writes a program that runs `java` with settings of Neo4j behind all other words, and returns its path.
pub(crate) fn with_settings(
    folder: &Path,
    java: Option<&Path>,
    settings: &[&str],
) -> std::io::Result<PathBuf> {
    let java = java.unwrap_or(Path::new("java")).display();
    let added: String = settings.iter().map(|setting| format!(" -c {setting}")).collect();
    let path = folder.join("java");
    let text = format!(
        "#!/bin/sh\ncase $1 in -version) exec '{java}' -version ;; esac\nexec '{java}' \"$@\"{added}\n"
    );
    std::fs::write(&path, text)?;
    std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o700))?;
    Ok(path)
}
