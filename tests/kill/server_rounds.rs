//! The rounds in which the server suffers: it is killed, its disk is full, or it takes no writes.
//!
//! Times are held against limits where it is killed alone: they mean something on a quiet machine.

use super::api::agent;
use super::disruption::Kind;
use super::history::{self, What};
use super::rounds::{Campaign, Ended};
use ebb_core::clock::Clock;
use std::time::{Duration, Instant};

impl Campaign<'_> {
    /// A round in which the server suffers.
    pub(super) async fn hurt_server(&mut self, round: u64) -> Result<(), Ended> {
        match self.kind(round) {
            Kind::Full => self.fill_disk(round).await,
            Kind::ReadOnly => self.refuse_writes(round).await,
            _ => self.kill_server(round).await,
        }
    }

    /// Lets the server run out of disk, sees that workers say so, kills it, and sees that they are ready again.
    async fn fill_disk(&mut self, round: u64) -> Result<(), Ended> {
        let ports = self.begin("full disk").await?;
        self.host.fill_disk().await?;
        let said_no = self.said(&ports, Says::NotReady("stopped itself")).await?;
        self.host.kill().await?;
        self.host.restart().await?;
        let said_yes = self.said(&ports, Says::Ready).await?;
        println!(
            "round {round}: the disk was full; workers say so after {said_no:?}, ready after {said_yes:?}"
        );
        self.done += 1;
        Ok(())
    }

    /// Starts the server so that it takes no writes, sees that workers say so, and that they are ready when it does again.
    async fn refuse_writes(&mut self, round: u64) -> Result<(), Ended> {
        let ports = self.begin("read-only").await?;
        self.stop_to_set(true).await?;
        let said_no = self.said(&ports, Says::NotReady("read-only")).await?;
        self.stop_to_set(false).await?;
        let said_yes = self.said(&ports, Says::Ready).await?;
        println!(
            "round {round}: the database was read-only; workers say so after {said_no:?}, ready after {said_yes:?}"
        );
        self.done += 1;
        Ok(())
    }

    /// Waits until all workers are ready, and writes down what befalls the server; the ports of the workers.
    async fn begin(&self, how: &str) -> Result<Vec<u16>, Ended> {
        let ports = self.all_ready().await?;
        self.journal.tell(&What::Hurt { victim: "server".to_owned(), how: how.to_owned() });
        Ok(ports)
    }

    /// Starts the server anew, so that it takes writes or does not.
    async fn stop_to_set(&mut self, read_only: bool) -> Result<(), Ended> {
        let from = Clock::Real.now().millis();
        self.host.set_read_only(read_only).await?;
        self.journal.tell(&What::Stopped { from, until: Clock::Real.now().millis() });
        Ok(())
    }

    /// The ports of all workers, each of which is ready.
    async fn all_ready(&self) -> Result<Vec<u16>, Ended> {
        let ports: Vec<u16> = self.workers.iter().map(|worker| worker.port).collect();
        match until(Duration::from_secs(60), || all_say(&ports, Says::Ready)).await {
            Some(_) => Ok(ports),
            None => Err(self.found("workers\nnot ready within 60 s of their start".to_owned())),
        }
    }

    /// Waits until all workers say so. That they do is promised, and not when: this is where waiting ends.
    async fn said(&self, ports: &[u16], says: Says) -> Result<Duration, Ended> {
        until(Duration::from_secs(120), || all_say(ports, says))
            .await
            .ok_or_else(|| self.found(format!("workers\nnot all of them said {says:?} within 120 s")))
    }

    /// Kills the server, sees that workers say so, starts it, and sees that they work again.
    async fn kill_server(&mut self, round: u64) -> Result<(), Ended> {
        let ports = self.all_ready().await?;
        // Work can only be taken up again where there was some.
        let at_work = until(Duration::from_secs(60), || async {
            history::read(&self.folder).is_ok_and(|history| {
                history.iter().filter(|line| matches!(line.what, What::Commit { .. })).count() > 30
            })
        });
        if at_work.await.is_none() {
            return Err(self.found("workers\nthirty batches were not written within 60 s".to_owned()));
        }
        self.host.kill().await?;
        self.journal.tell(&What::Hurt { victim: "server".to_owned(), how: "kill".to_owned() });
        let said_no = until(Duration::from_secs(5), || all_say(&ports, Says::NotReady(""))).await;
        self.host.restart().await?;
        // It is there when it lets somebody in and answers.
        let answers = until(Duration::from_secs(60), || async { self.observer.answers().await }).await;
        let ready = Instant::now();
        let since = Clock::Real.now().millis();
        let said_yes = until(Duration::from_secs(10), || all_say(&ports, Says::Ready)).await;
        // Work is there again with the first batch that is written. The first step of any run is told beside it: a server
        // plans each statement anew, and takes the longest over the long ones.
        let (mut step, mut resumed) = (None, None);
        while resumed.is_none() && ready.elapsed() < Duration::from_secs(20) {
            for line in history::read(&self.folder)?.iter().filter(|line| line.at > since) {
                let is_batch = matches!(line.what, What::Commit { .. });
                if is_batch || matches!(line.what, What::Take { .. } | What::Close { .. }) {
                    step.get_or_insert_with(|| ready.elapsed());
                }
                if is_batch {
                    resumed.get_or_insert_with(|| ready.elapsed());
                }
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        println!(
            "round {round}: server killed; it answers {answers:?} after its handshake; not ready is said after {said_no:?}, ready after {said_yes:?}, the first step after {step:?}, work after {resumed:?}"
        );
        self.done += 1;
        let slow =
            |seen: Option<Duration>, limit: u64| seen.is_none_or(|seen| seen > Duration::from_secs(limit));
        if slow(said_no, 2) || slow(said_yes, 2) || slow(resumed, 5) {
            return Err(self.found(
                "the server was killed\nworkers notice within 2 s both ways, and work within 5 s".to_owned(),
            ));
        }
        Ok(())
    }
}

/// Asks until the answer is yes; how long that took.
pub(super) async fn until<F: Future<Output = bool>>(
    limit: Duration,
    ask: impl Fn() -> F,
) -> Option<Duration> {
    let began = Instant::now();
    while began.elapsed() < limit {
        if ask().await {
            return Some(began.elapsed());
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    None
}

/// What a worker says of itself.
#[derive(Debug, Clone, Copy)]
pub(super) enum Says {
    Ready,
    /// With these words in the reason.
    NotReady(&'static str),
}

/// Whether every one of these workers says so.
pub(super) async fn all_say(ports: &[u16], says: Says) -> bool {
    for &port in ports {
        let said = tokio::task::spawn_blocking(move || {
            let agent = agent(Duration::from_millis(500));
            let mut answer = agent.get(format!("http://127.0.0.1:{port}/readyz")).call().ok()?;
            Some((answer.status().as_u16(), answer.body_mut().read_to_string().ok()?))
        });
        let so = match (said.await.ok().flatten(), says) {
            (Some((200, _)), Says::Ready) => true,
            (Some((503, text)), Says::NotReady(why)) => text.contains(why),
            _ => false,
        };
        if !so {
            return false;
        }
    }
    true
}

/// Asks for something to be written over HTTP; the status of the answer.
pub(super) async fn post(port: u16, path: &str, body: serde_json::Value) -> Result<u16, String> {
    let url = format!("http://127.0.0.1:{port}{path}");
    let asked = tokio::task::spawn_blocking(move || {
        agent(Duration::from_secs(30)).post(url).send_json(body).map(|answer| answer.status().as_u16())
    });
    asked.await.map_err(|why| why.to_string())?.map_err(|why| why.to_string())
}
