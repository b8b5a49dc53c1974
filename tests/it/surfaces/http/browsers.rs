//! Web pages that somebody on this machine happens to look at: they can neither read nor write.

use super::{Ask, Served};
use crate::harness::neo4j::fresh;

fn with<'a>(headers: &[(&'a str, &'a str)]) -> Ask<'a> {
    Ask { method: "GET", path: "/v1/memories", headers: headers.to_vec(), body: None }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_from_elsewhere_is_refused_unless_it_is_named() {
    let db = fresh().await;
    let api = Served::on(&db, &[("EBB__HTTP__ORIGINS", "https://app.example.org")]);
    let own = format!("127.0.0.1:{}", api.port);
    assert_eq!(api.ask(&with(&[("Host", "localhost:1")])).status, 200);
    assert_eq!(api.ask(&with(&[("Host", "[::1]:1")])).status, 200);
    for host in ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example:80", "10.0.0.1"] {
        api.ask(&with(&[("Host", host)])).fails(403, "authorization", "this is not");
    }
    for origin in
        ["https://evil.example", "null", "http://localhost:1", "https://app.example.org.evil.example"]
    {
        api.ask(&with(&[("Origin", origin)])).fails(403, "authorization", "may not ask here");
    }
    assert_eq!(api.ask(&with(&[("Host", &own), ("Origin", &format!("http://{own}"))])).status, 200);
    let shared = api.ask(&with(&[("Origin", "https://app.example.org")]));
    assert_eq!(shared.status, 200);
    assert_eq!(shared.header("access-control-allow-origin"), Some("https://app.example.org"));
    let asks = [("Origin", "https://app.example.org"), ("Access-Control-Request-Method", "POST")];
    let preflight = api.ask(&Ask { method: "OPTIONS", ..with(&asks) });
    assert_eq!(preflight.status, 204);
    assert!(preflight.header("access-control-allow-headers").unwrap().contains("idempotency-key"));
    let asks = [("Origin", "https://evil.example"), ("Access-Control-Request-Method", "POST")];
    api.ask(&Ask { method: "OPTIONS", ..with(&asks) }).fails(403, "authorization", "may not ask here");
}
