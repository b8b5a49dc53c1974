//! The port of the probes under clients that mean no good.

use ebb::surfaces::http::{Listener, probes};
use std::io::{Read, Write};
use std::net::TcpStream as Plain;
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

#[tokio::test(flavor = "multi_thread")]
async fn who_dribbles_is_hung_up_on_and_others_are_answered() {
    let listener = Listener::bind(Some(([127, 0, 0, 1], 0).into()), 0).await.unwrap();
    let address = listener.address;
    let stop = CancellationToken::new();
    let router = probes::router(true, || probes::Readiness::Ready, || "here".to_owned());
    let serving = listener.serve(router, stop.clone());
    let asking = tokio::task::spawn_blocking(move || {
        let mut slow: Vec<Plain> = (0..20).map(|_| Plain::connect(address).unwrap()).collect();
        for client in &mut slow {
            client.write_all(b"GET /metrics HTTP/1.1\r\nHost: ").unwrap();
        }
        let mut quick = Plain::connect(address).unwrap();
        quick.write_all(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").unwrap();
        let mut answer = String::new();
        quick.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 200 OK") && answer.ends_with("here"), "{answer}");
        let begun = Instant::now();
        for client in &mut slow {
            // An end, or a refusal and then an end: either way nobody waits for the rest of the line.
            let _ = client.read_to_end(&mut Vec::new());
        }
        begun.elapsed()
    });
    let waited = tokio::select! {
        () = serving => unreachable!("nobody said stop"),
        waited = asking => waited.unwrap(),
    };
    assert!(waited < Duration::from_secs(20), "{waited:?}");
    stop.cancel();
}
