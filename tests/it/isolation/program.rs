//! The program without its socket: service, router and tools as `ebb serve` puts them together, asked in this process at
//! the instants of a clock by hand.

use crate::harness::neo4j::{Fresh, at};
use crate::jobs::sweep::policies;
use axum::Router;
use axum::body::Body;
use axum::http::Request;
use ebb::surfaces::http::probes::Readiness;
use ebb::surfaces::http::{Api, Rules, router};
use ebb_core::clock::Clock;
use ebb_core::domain::ids::Scope;
use ebb_core::domain::key::Right;
use ebb_core::domain::policy::Regime;
use ebb_core::domain::tunables::ConsolidationConfig;
use ebb_core::jobs::JobName;
use ebb_core::mirror;
use ebb_core::scheduler::{self, JobConfig};
use ebb_core::service::recall::{dot, export, export_graphml};
use ebb_core::service::{self, Outcome, Service};
use ebb_core::store::{Config, Store};
use ebb_engine::plasticity::LearningMode;
use http_body_util::BodyExt;
use hyper::service::Service as _;
use hyper_util::service::TowerToHyperService;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// How a job ends.
pub(super) const DONE: &str = "done";
/// What sweeps go by.
const POLICIES: &str = r#"[
    {"id": "old", "relation": "status*", "scope": "*", "mode": "retract", "ttl_s": 7200},
    {"id": "fades", "relation": "memory:*", "scope": "*", "mode": "confidence", "half_life_s": 3600}]"#;

/// A request.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ScopeRequest {
    pub(super) method: &'static str,
    /// The route as the document has it; of a tool its name.
    pub(super) of: &'static str,
    pub(super) path: String,
    pub(super) body: Option<Value>,
    /// The `Idempotency-Key`.
    pub(super) once: Option<String>,
    /// Made by the operator, whose key is over every scope, instead of by the scope's own key.
    pub(super) by_operator: bool,
}

impl ScopeRequest {
    pub(super) fn new(method: &'static str, of: &'static str, path: String, body: Option<Value>) -> Self {
        Self { method, of, path, body, once: None, by_operator: false }
    }

    /// Whether it reads, and nothing else.
    pub(super) fn looks(&self) -> bool {
        let reads = [
            "/v1/recall",
            "/v1/memories/{id}/why-not",
            "/v1/engine/",
            "recall",
            "explain_memory",
            "decay_scope",
        ];
        self.method == "GET" || reads.iter().any(|read| self.of.starts_with(read))
    }

    pub(super) fn tool(name: &'static str, arguments: &Value) -> Self {
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": {"name": name, "arguments": arguments}});
        Self::new("POST", name, "/mcp".to_owned(), Some(body))
    }
}

impl std::fmt::Display for ScopeRequest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.method, self.path)?;
        let said = self.body.iter().map(|body| if self.path == "/mcp" { &body["params"] } else { body });
        said.into_iter().try_for_each(|body| write!(f, " {body}"))?;
        self.once.iter().try_for_each(|once| write!(f, " (Idempotency-Key: {once})"))?;
        if self.by_operator { f.write_str(" by the operator") } else { Ok(()) }
    }
}

/// The secrets of keys with the right admin: over one scope each, and over all.
#[derive(Debug, Default)]
pub(super) struct Keys {
    of: BTreeMap<String, String>,
    every: String,
}

impl Keys {
    /// The secret of the key of a scope.
    pub(super) fn of(&self, scope: &str) -> &str {
        &self.of[scope]
    }
}

/// The program over a database.
pub(super) struct Program {
    router: TowerToHyperService<Router>,
    pub(super) service: Arc<Service>,
    pub(super) clock: Clock,
}

impl Program {
    /// A new process, so to speak: it holds nothing in memory yet. It answers from memory about these scopes.
    pub(super) fn on(db: &Fresh, scopes: &[String]) -> Self {
        let regime = Regime { policies: policies(POLICIES), ..db.config.regime.clone() };
        let store = Store::connect(&Config { regime, ..db.config.clone() }).unwrap();
        let job = JobConfig {
            enabled: true,
            rhythm: None,
            jitter: Duration::ZERO,
            time_limit: Duration::from_secs(60),
        };
        let scopes = scopes.iter().map(|scope| Scope::new(scope).unwrap()).collect();
        let config = service::Config {
            consolidation: ConsolidationConfig::DOCUMENTED,
            jobs: watch::Sender::new(Arc::new(scheduler::Config(std::array::from_fn(|_| job.clone())))),
            on_scratch: false,
            scope: Scope::local(),
            guard: db.config.regime.guard,
            // However slow this machine is, nothing becomes stale.
            mirror: mirror::Config { scopes, staleness: Duration::MAX, ..crate::mirror::config(1 << 30) },
            engine: crate::mirror::rules(),
            learn: LearningMode::default(),
            embedder: None,
            presets: Vec::new(),
        };
        let clock = Clock::manual(at(0.0));
        let service = Arc::new(Service::new(store, clock.clone(), config));
        let stop = CancellationToken::new();
        let address = "127.0.0.1:1".parse().unwrap();
        let rules = Rules { address, proxy: false, origins: Vec::new(), rate: u32::MAX };
        let api = Arc::new(Api::new(Arc::clone(&service), rules, 8, stop).with_tools(true));
        let router = TowerToHyperService::new(router(&api, || Readiness::Ready, String::new));
        Self { router, service, clock }
    }

    /// Makes a key for each scope, and the operator's.
    pub(super) async fn keys(&self, scopes: &[String]) -> Keys {
        let mut keys = Keys::default();
        for scope in scopes {
            let made = self.service.create_key("k", Right::Admin, std::slice::from_ref(scope), None);
            keys.of.insert(scope.clone(), made.await.unwrap().secret);
        }
        keys.every =
            self.service.create_key("k", Right::Admin, &["*".to_owned()], None).await.unwrap().secret;
        keys
    }

    /// What is answered to whoever holds the key of a scope: status, link, body.
    pub(super) async fn ask(&self, keys: &Keys, scope: &str, ask: &ScopeRequest) -> String {
        let key = if ask.by_operator { &keys.every } else { &keys.of[scope] };
        let mut request = Request::builder()
            .method(ask.method)
            .uri(&ask.path)
            .header("host", "localhost")
            .header("authorization", format!("Bearer {key}"))
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream");
        if ask.path == "/mcp" {
            request = request.header("mcp-protocol-version", "2025-06-18");
        }
        if let Some(once) = &ask.once {
            request = request.header("idempotency-key", once);
        }
        let body = ask.body.as_ref().map_or_else(Body::empty, |body| Body::from(body.to_string()));
        let (status, answer) = self.answer(request.body(body).unwrap()).await;
        format!("{status}{answer}")
    }

    /// The answer to a request: status, then link and body.
    pub(super) async fn answer(&self, request: Request<Body>) -> (u16, String) {
        let response = self.router.call(request).await.unwrap();
        let (head, body) = response.into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        let link = head.headers.get("link").map(|link| format!(" {}", link.to_str().unwrap()));
        (head.status.as_u16(), format!("{} {}", link.unwrap_or_default(), String::from_utf8_lossy(&body)))
    }

    /// Moves the clock, runs jobs, brings mirrors up to date. Answers how the jobs ended, which is well, whatever is stored.
    pub(super) async fn pass(
        &self,
        hours: f64,
        jobs: &[JobName],
        refreshed: &[&str],
    ) -> Vec<(&'static str, String)> {
        self.clock.set(at(hours));
        let mut ended = Vec::new();
        for job in jobs {
            ended.push((
                job.name(),
                match self.service.run_job(*job, at(hours), &Default::default()).await {
                    Ok(report) if report.outcome == Outcome::Done && !report.truncated => DONE.to_owned(),
                    Ok(report) => format!("{report:?}"),
                    Err(why) => format!("{why:?}"),
                },
            ));
        }
        for scope in refreshed {
            self.service.refresh_mirror(&Scope::new(scope).unwrap()).await.unwrap();
        }
        ended
    }

    /// The graph that is held of a scope, as other programs are given it, and where it differs from the store.
    pub(super) async fn held(&self, scope: &str) -> Vec<(&'static str, String)> {
        let scope = Scope::new(scope).unwrap();
        let view = self.service.view(&scope).await.unwrap();
        let (mut snapshot, mut graphml) = (Vec::new(), Vec::new());
        export(&view, &mut snapshot).unwrap();
        let energies = self.service.energies(&scope, &view).await.unwrap();
        export_graphml(&view, &energies, &mut graphml).unwrap();
        let differs = self.service.verify_mirror(&scope).await.unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        vec![
            ("graph save", text(snapshot)),
            ("graph export", text(graphml)),
            ("graph export dot", dot(&view, 100)),
            ("graph verify", differs.to_string()),
        ]
    }
}
