//! The status page: `GET /`, an HTML file with a style and scripts of its own, which fetch their data from the JSON routes.
//!
//! The page contains no data and so needs no key; its requests do. Its headers forbid loading anything from elsewhere,
//! sending anything elsewhere, and framing. Memories are untrusted: the page renders them as text, and if it ever rendered
//! markup, no script in it would run.
//!
//! Graphs are drawn by Cytoscape.js 3.35.0: `dist/cytoscape.min.js` of its package on npm, unchanged, with the SHA-256
//! 71fa9ebec21a7ca2c40cff6aacc30d1f6464e363662ad4b2c197e1adc770cd94. Its licence, MIT, is in `status/cytoscape.LICENSE`.

use crate::surfaces::operation::problem::Problem;
use axum::extract::Path;
use axum::http::{HeaderName, header};
use axum::response::IntoResponse;

const HTML: &str = "text/html; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";

/// Name, type and content of a file.
type File = (&'static str, &'static str, &'static str);

/// The files of the page but for itself.
const FILES: [File; 18] = [
    ("style.css", CSS, include_str!("status/style.css")),
    ("cytoscape.min.js", SCRIPT, include_str!("status/cytoscape.min.js")),
    ("cytoscape.LICENSE", "text/plain; charset=utf-8", include_str!("status/cytoscape.LICENSE")),
    ("main.js", SCRIPT, include_str!("status/main.js")),
    ("dom.js", SCRIPT, include_str!("status/dom.js")),
    ("format.js", SCRIPT, include_str!("status/format.js")),
    ("api.js", SCRIPT, include_str!("status/api.js")),
    ("state.js", SCRIPT, include_str!("status/state.js")),
    ("panel.js", SCRIPT, include_str!("status/panel.js")),
    ("attention.js", SCRIPT, include_str!("status/attention.js")),
    ("jobs.js", SCRIPT, include_str!("status/jobs.js")),
    ("memories.js", SCRIPT, include_str!("status/memories.js")),
    ("memory.js", SCRIPT, include_str!("status/memory.js")),
    ("graph.js", SCRIPT, include_str!("status/graph.js")),
    ("recall.js", SCRIPT, include_str!("status/recall.js")),
    ("day.js", SCRIPT, include_str!("status/day.js")),
    ("overview.js", SCRIPT, include_str!("status/overview.js")),
    ("trails.js", SCRIPT, include_str!("status/trails.js")),
];

/// Scripts are modules of this origin; nothing is inline, and nothing is evaluated.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
                      require-trusted-types-for 'script'; trusted-types 'none'";

/// `GET /`
pub(super) async fn page() -> impl IntoResponse {
    answer(HTML, include_str!("status/index.html"))
}

/// `GET /page/{file}`
pub(super) async fn file(Path(name): Path<String>) -> Result<impl IntoResponse, Problem> {
    let found = FILES.iter().find(|(file, ..)| *file == name);
    let (_, kind, content) =
        found.ok_or_else(|| Problem::not_found("the status page has no such file; it is at /"))?;
    Ok(answer(kind, content))
}

fn answer(kind: &'static str, content: &'static str) -> impl IntoResponse {
    let headers = [
        (header::CONTENT_TYPE, kind),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::REFERRER_POLICY, "no-referrer"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        // The files of two versions do not mix.
        (header::CACHE_CONTROL, "no-store"),
    ];
    (headers, content)
}

#[cfg(test)]
mod tests {
    use super::*;
    use sha2::{Digest, Sha256};
    use std::collections::BTreeSet;

    fn content(name: &str) -> &'static str {
        FILES.iter().find(|(file, ..)| *file == name).unwrap().2
    }

    /// Those written here.
    fn own() -> impl Iterator<Item = &'static File> {
        FILES.iter().filter(|(name, kind, _)| *kind == SCRIPT && !name.starts_with("cytoscape"))
    }

    /// The parts of a text between two marks.
    fn between<'t>(text: &'t str, from: &'t str, to: &'t str) -> impl Iterator<Item = &'t str> {
        text.split(from).skip(1).filter_map(move |rest| Some(rest.split_once(to)?.0))
    }

    #[test]
    fn the_library_is_the_published_file() {
        let found: String =
            Sha256::digest(content("cytoscape.min.js")).iter().map(|byte| format!("{byte:02x}")).collect();
        assert!(include_str!("status.rs").contains(&format!("//! {found}.")), "{found}");
        assert!(content("cytoscape.min.js").contains("\"3.35.0\""));
        assert!(content("cytoscape.LICENSE").contains("The Cytoscape Consortium"));
    }

    #[test]
    fn every_element_that_a_script_names_is_in_the_page() {
        let page = include_str!("status/index.html");
        let there: BTreeSet<&str> = between(page, " id=\"", "\"").collect();
        assert_eq!(there.len(), page.matches(" id=\"").count(), "an id is there twice");
        let named: BTreeSet<&str> = own().flat_map(|(.., text)| between(text, "$('", "')")).collect();
        assert!(named.len() > 20, "{named:?}");
        let missing: Vec<_> = named.difference(&there).collect();
        assert!(missing.is_empty(), "{missing:?}");
        for of in between(page, " for=\"", "\"") {
            assert!(there.contains(of), "a label for {of}");
        }
    }

    #[test]
    fn every_import_is_a_file_of_the_page_and_every_file_is_used() {
        let page = include_str!("status/index.html");
        let imported: BTreeSet<&str> = own().flat_map(|(.., text)| between(text, "from './", "'")).collect();
        for (name, kind, _) in &FILES {
            let used = imported.contains(name) || page.contains(&format!("\"/page/{name}\""));
            assert!(used || *kind != SCRIPT, "{name} is used nowhere");
        }
        for name in imported {
            assert!(FILES.iter().any(|(file, ..)| *file == name), "{name}");
        }
    }

    #[test]
    fn nothing_is_inline_or_from_elsewhere_and_nothing_makes_markup_of_text() {
        let page = include_str!("status/index.html");
        for never in ["<style", "style=", " onclick", "javascript:", "<script>", "<script nonce"] {
            assert!(!page.contains(never), "{never}");
        }
        let texts = own().map(|(.., text)| *text).chain([page, content("style.css")]);
        for text in texts {
            for never in [
                "://",
                "@import",
                "url(",
                "innerHTML",
                "outerHTML",
                "insertAdjacentHTML",
                "document.write",
                "DOMParser",
                "eval(",
                "new Function",
                "localStorage",
                "setAttribute('style'",
            ] {
                assert!(!text.contains(never), "{never}");
            }
        }
        for (name, _, text) in own() {
            assert!(text.starts_with("// "), "{name} opens with what it is");
        }
    }
}
