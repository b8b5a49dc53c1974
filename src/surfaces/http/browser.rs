//! A guide and a style for Neo4j Browser: `:play http://localhost:8322/browser/guide.html`, and `:style` with `style.grass`.
//!
//! Browser loads both from another origin, its own, and by default only from hosts named `localhost`. They contain no data and
//! need no key, so every origin may read them: these two routes are outside the checks of all others. The guide shows the
//! queries of `ebb inspect`; Browser runs them with its own connection.

use super::api::Api;
use crate::surfaces::cli::report::escaped;
use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, StatusCode, header};
use axum::response::IntoResponse;
use axum::routing::get;
use ebb_core::service::Service;
use std::fmt::Write;
use std::sync::Arc;

/// A slide: heading, introduction, names of queries.
type Slide = (&'static str, &'static str, &'static [&'static str]);

const SLIDES: [Slide; 6] = [
    (
        "Memories",
        "Each memory has an energy that falls with time, and a tier. One that is used often rises a tier; one that is not \
         used fades and expires. Nothing is deleted.",
        &["tiers", "health", "fading_soon", "expired", "promotions", "promotions_graph", "sessions"],
    ),
    (
        "Clusters",
        "Memories that are used in the same sessions form clusters. New memories strengthen similar older ones.",
        &["clusters", "clusters_graph", "coactivation", "reinforcements", "learned"],
    ),
    (
        "Relations and facts",
        "A relation loses weight until it is observed again. Policies lower the confidence of facts.",
        &["relations_below_minimum", "facts", "policies"],
    ),
    (
        "Trails",
        "Ways that led to good outcomes have pheromones, which evaporate.",
        &["trails_hot", "trails_hot_graph", "trails_silent", "places_cold"],
    ),
    (
        "Rows of other libraries",
        "Ebb writes nothing on them. States, such as a pin, are nodes of its own with the library's key.",
        &["states"],
    ),
    (
        "Operation",
        "Runs, changes, and rows that no law can use.",
        &["last_runs", "changes", "attempts", "conflicts", "quarantine"],
    ),
];

/// The routes of both files.
pub(super) fn files() -> Router<Arc<Api>> {
    Router::new()
        .route("/browser/guide.html", get(guide).options(preflight))
        .route("/browser/style.grass", get(style).options(preflight))
}

async fn guide(State(api): State<Arc<Api>>, headers: HeaderMap) -> impl IntoResponse {
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or("localhost:8322");
    readable_by_all("text/html; charset=utf-8", page(&api.backend.service, host))
}

/// Browser sends headers of its own with both requests, which a preflight asks for.
async fn preflight() -> impl IntoResponse {
    let headers = [
        (header::ACCESS_CONTROL_ALLOW_ORIGIN, "*"),
        (header::ACCESS_CONTROL_ALLOW_METHODS, "GET"),
        (header::ACCESS_CONTROL_ALLOW_HEADERS, "*"),
    ];
    (StatusCode::NO_CONTENT, headers)
}

async fn style() -> impl IntoResponse {
    readable_by_all("text/plain; charset=utf-8", include_str!("../cli/inspect.grass").to_owned())
}

fn readable_by_all(kind: &'static str, body: String) -> impl IntoResponse {
    let headers = [
        (header::CONTENT_TYPE, kind),
        (header::ACCESS_CONTROL_ALLOW_ORIGIN, "*"),
        (HeaderName::from_static("cross-origin-resource-policy"), "cross-origin"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        // Opened as a page of its own, it may load and run nothing.
        (header::CONTENT_SECURITY_POLICY, "default-src 'none'; frame-ancestors 'none'"),
    ];
    (headers, body)
}

/// The guide, in the markup that Browser shows as slides: a click on a query copies it into the editor.
fn page(service: &Service, host: &str) -> String {
    let mut html = String::from("<article class=\"guide\">\n<carousel class=\"deck container-fluid\">\n");
    let style = format!(":style http://{host}/browser/style.grass");
    html += &slide(
        "Ebb",
        "",
        &format!(
            "<p class=\"lead\">What fades, rises and belongs together in this database.</p>\n\
         <p>The style shows memories, entities and facts by their texts. A click copies it, or any query of the next slides, into \
         the editor:</p>\n{}<p>On a terminal, <code>ebb memory explain ID</code> says why a memory is as it is.</p>",
            runnable(&style)
        ),
    );
    for (heading, introduction, names) in SLIDES {
        let mut queries = String::new();
        for name in names {
            let title = Service::questions().find(|(known, _)| known == name).map_or("", |(_, title)| title);
            let text = service.question(name).unwrap_or_default();
            let _ = write!(queries, "<h4>{}</h4>\n{}", escaped(title), runnable(text.trim_end()));
        }
        html += &slide(heading, introduction, &queries);
    }
    html += "</carousel>\n</article>\n";
    html
}

fn slide(heading: &str, introduction: &str, content: &str) -> String {
    format!(
        "<slide class=\"row-fluid\">\n<div class=\"col-sm-3\">\n<h3>{heading}</h3>\n<p>{introduction}</p>\n</div>\n\
         <div class=\"col-sm-9\">\n{content}</div>\n</slide>\n"
    )
}

fn runnable(text: &str) -> String {
    format!("<figure><pre class=\"pre-scrollable code runnable\">{}</pre></figure>\n", escaped(text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn the_guide_shows_each_query_once() {
        let shown: Vec<&str> = SLIDES.iter().flat_map(|(.., names)| names.iter().copied()).collect();
        let known: BTreeSet<&str> = Service::questions().map(|(name, _)| name).collect();
        assert_eq!(shown.len(), known.len());
        assert_eq!(shown.into_iter().collect::<BTreeSet<_>>(), known);
    }
}
