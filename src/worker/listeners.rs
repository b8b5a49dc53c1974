//! The ports of a process: that of the API, that of the worker for probes and metrics, or both.
//!
//! A process with an API serves probes and metrics there, because one port is expected of one process; a worker's own
//! port is opened beside it only if it is configured, since a supervisor may then use it.

use super::metrics::{self, ProcessState};
use super::{Error, Roles};
use crate::settings::Settings;
use crate::surfaces::http::probes::{self, Readiness, Ready};
use crate::surfaces::http::{Api, Listener, Rules, router};
use crate::telemetry;
use ebb_core::scheduler::meter::Meter;
use ebb_core::service::Service;
use ebb_core::service::keys::Keyring;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tracing::warn;

/// The default port for probes and metrics of a worker.
pub const PORT: u16 = 9464;
/// The default port of the API.
pub const HTTP_PORT: u16 = 8322;
/// How long a start waits for the API keys.
const KEYS_LIMIT: Duration = Duration::from_secs(5);
/// How long a stop waits for open requests.
const DRAIN_LIMIT: Duration = Duration::from_secs(8);

/// Addresses that a process listens on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ports {
    /// Address of the API, with probes and metrics.
    pub api: Option<SocketAddr>,
    /// Address for probes and metrics alone.
    pub probes: Option<SocketAddr>,
}

/// Open ports.
pub(super) struct Listeners {
    api: Option<(Listener, Arc<Api>)>,
    probes: Option<Listener>,
}

impl Listeners {
    pub(super) async fn open(
        service: &Arc<Service>,
        settings: &Settings,
        roles: Roles,
        stop: &CancellationToken,
    ) -> Result<Self, Error> {
        let (worker, http) = (&settings.worker, &settings.http);
        let own = roles.worker && (!roles.answer_requests() || worker.listen.is_some());
        let probes = if own { Some(bind(worker.listen, PORT).await?) } else { None };
        if !roles.answer_requests() {
            return Ok(Self { api: None, probes });
        }
        let listener = bind(http.listen, HTTP_PORT).await?.behind_proxy(http.proxy);
        let address = listener.address;
        let rules = Rules { address, proxy: http.proxy, origins: http.origins.clone(), rate: http.rate };
        if !rules.is_open() {
            let keys = Keyring::new(service.share_store());
            let known = tokio::time::timeout(KEYS_LIMIT, keys.has_live_keys());
            match known.await {
                Ok(Ok(true)) => {}
                Ok(Ok(false)) => return Err(Error::NoKeys(address)),
                Ok(Err(why)) if !why.is_cut_off() => return Err(Error::Keys(why)),
                // A database that is not there yet is waited for, and no request is answered before the keys are known.
                Ok(Err(_)) | Err(_) => warn!("the API keys cannot be read yet"),
            }
        }
        let mut api = Api::new(Arc::clone(service), rules, settings.pools.connections, stop.clone());
        if !roles.http {
            api = api.without_operations();
        }
        if roles.mcp {
            api = api.with_tools(settings.mcp.allow_writes);
        }
        Ok(Self { api: Some((listener, Arc::new(api))), probes })
    }

    pub(super) fn ports(&self) -> Ports {
        Ports {
            api: self.api.as_ref().map(|(listener, _)| listener.address),
            probes: self.probes.as_ref().map(|listener| listener.address),
        }
    }

    /// Waits for the stop, and then until open requests are finished.
    pub(super) fn drained(&self, stop: &CancellationToken) -> impl Future<Output = ()> + use<> {
        let (api, stop) = (self.api.as_ref().map(|(_, api)| Arc::clone(api)), stop.clone());
        async move {
            stop.cancelled().await;
            if let Some(api) = api {
                // The server rolls back a request that is still open then.
                let _ = tokio::time::timeout(DRAIN_LIMIT, api.drained()).await;
            }
        }
    }

    /// Serves until `over` is cancelled.
    pub(super) async fn serve(
        self,
        service: &Arc<Service>,
        meter: &Arc<Meter>,
        ready: &watch::Receiver<Ready>,
        over: &CancellationToken,
    ) {
        let state = State {
            database: ready.clone(),
            service: Arc::clone(service),
            meter: Arc::clone(meter),
            answers_requests: self.api.is_some(),
        };
        let ready = {
            let state = state.clone();
            move || state.readiness()
        };
        let requests = self.api.as_ref().map(|(listener, api)| (Arc::clone(api), listener.cut()));
        let page = |with_scopes| page(state.clone(), requests.clone(), with_scopes);
        let api = async {
            if let Some((listener, api)) = self.api {
                listener.serve(router(&api, ready.clone(), page(true)), over.clone()).await;
            }
        };
        let probes = async {
            if let Some(listener) = self.probes {
                // Requests need no key here, so other machines learn of no scope.
                let is_local = listener.address.ip().is_loopback();
                let router = probes::router(is_local, ready.clone(), page(is_local));
                listener.serve(router, over.clone()).await;
            }
        };
        tokio::join!(api, probes);
    }
}

/// The sources of what a process says of itself.
#[derive(Clone)]
struct State {
    database: watch::Receiver<Ready>,
    service: Arc<Service>,
    meter: Arc<Meter>,
    answers_requests: bool,
}

impl State {
    /// Why no job can run, if none can.
    fn stopped(&self) -> Option<String> {
        if let Err(why) = &*self.database.borrow() {
            return Some(why.clone());
        }
        let invalid = self.service.store().invalid_tunables();
        let invalid = invalid.map(|why| format!("no job can run and no memory can be written: {why}"));
        invalid.or_else(|| Some(format!("no job can run: {}", self.meter.counts().stopped.as_ref()?)))
    }

    fn readiness(&self) -> Readiness {
        let database = self.database.borrow().clone();
        match database.and_then(|()| self.service.no_room().map_or(Ok(()), Err)) {
            Err(why) => Readiness::NotReady(why),
            Ok(()) => match self.stopped() {
                None => Readiness::Ready,
                Some(why) if self.answers_requests => Readiness::Partial(why),
                Some(why) => Readiness::NotReady(why),
            },
        }
    }
}

async fn bind(stated: Option<SocketAddr>, usual: u16) -> Result<Listener, Error> {
    let listener = Listener::bind(stated, usual).await;
    listener.map_err(|source| Error::Listen { address: stated, usual, source })
}

/// A function that writes the page of metrics from the counters of this process, without those of each scope unless
/// `with_scopes`.
fn page(
    state: State,
    requests: Option<(Arc<Api>, Arc<AtomicU64>)>,
    with_scopes: bool,
) -> impl Fn() -> String + Send + Sync + 'static {
    move || {
        let State { service, meter, .. } = &state;
        let counters = service.store().counters();
        let process = ProcessState {
            ready: state.readiness().is_ready(),
            stopped: state.stopped().is_some(),
            retries: counters.retried.load(Ordering::Relaxed),
            unknown_commits: counters.unknown_commits.load(Ordering::Relaxed),
            panics: telemetry::panics(),
            responses: requests.as_ref().map(|(api, _)| api.answered().by_class()),
            usage: requests.as_ref().map(|(api, cut)| (api.usage(), cut.load(Ordering::Relaxed))),
            mirrors: if with_scopes { service.mirrors() } else { Vec::new() },
            on_demand: service.mirrors_on_demand(),
        };
        metrics::page(&meter.counts(), &process)
    }
}
