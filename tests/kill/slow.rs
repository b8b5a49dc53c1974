//! Slow clients of one HTTP server: some ask and never read, some send a byte of their request now and then.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

const READERS: usize = 24;
const DRIBBLERS: usize = 8;
/// Requests that one reader sends without reading an answer.
const ASKED: usize = 200;

/// Slow clients at work; they end when this is dropped.
pub(crate) struct SlowClients {
    over: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl SlowClients {
    /// Occupies the server at that port of this machine, as soon as there is one.
    pub(crate) fn of(port: u16) -> Self {
        let over = Arc::new(AtomicBool::new(false));
        let threads = (0..READERS + DRIBBLERS)
            .map(|n| {
                let over = Arc::clone(&over);
                std::thread::spawn(move || {
                    // A connection that the server has had enough of is made anew: that is what such clients do.
                    while !over.load(Ordering::Relaxed) {
                        if let Ok(stream) = TcpStream::connect(("127.0.0.1", port)) {
                            let _ = if n < READERS { hoard(stream, &over) } else { dribble(stream, &over) };
                        }
                        std::thread::sleep(Duration::from_millis(50));
                    }
                })
            })
            .collect();
        Self { over, threads }
    }
}

impl Drop for SlowClients {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

/// Asks again and again, and reads a byte a second.
fn hoard(mut stream: TcpStream, over: &AtomicBool) -> std::io::Result<()> {
    stream.set_write_timeout(Some(Duration::from_millis(100)))?;
    stream.set_read_timeout(Some(Duration::from_millis(100)))?;
    for _ in 0..ASKED {
        if stream.write_all(b"GET /v1/memories?limit=1000 HTTP/1.1\r\nHost: localhost\r\n\r\n").is_err() {
            break;
        }
    }
    while !over.load(Ordering::Relaxed) {
        match stream.read(&mut [0]) {
            Ok(0) => break,
            Err(why)
                if !matches!(why.kind(), std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut) =>
            {
                break;
            }
            _ => std::thread::sleep(Duration::from_millis(200)),
        }
    }
    Ok(())
}

/// Announces a body and sends a byte of it now and then.
fn dribble(mut stream: TcpStream, over: &AtomicBool) -> std::io::Result<()> {
    stream.write_all(
        b"POST /v1/memories:batch HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n",
    )?;
    while !over.load(Ordering::Relaxed) {
        stream.write_all(b" ")?;
        std::thread::sleep(Duration::from_millis(100));
    }
    Ok(())
}
