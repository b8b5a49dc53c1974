//! A stream with a minimum rate: a client that does not read is disconnected.
//!
//! Unread data stays in memory, so a client that stops reading is disconnected. Whenever the system accepts no more
//! bytes, a timeout starts in which the client must read a minimum number of bytes. It ends when all is written, so a
//! connection with nothing to send never times out, nor does one whose answer is still being read from the database.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

/// Timeout to read [`BYTES_MIN`].
const READ_TIMEOUT: Duration = Duration::from_secs(10);
/// Minimum number of bytes to read in that time: 6.4 KiB a second.
const BYTES_MIN: usize = 64 << 10;

/// A stream with a minimum rate.
pub(super) struct MinRate<S> {
    stream: S,
    limit: Duration,
    /// Timeout and number of bytes written since the system accepted no more.
    late: Option<(Pin<Box<Sleep>>, usize)>,
    cut: Arc<AtomicU64>,
}

impl<S> MinRate<S> {
    /// `cut` counts the streams that fell below the rate.
    pub(super) fn new(stream: S, cut: Arc<AtomicU64>) -> Self {
        Self { stream, limit: READ_TIMEOUT, late: None, cut }
    }

    /// Checks the rate after an attempt to write.
    fn wrote(
        &mut self,
        context: &mut Context<'_>,
        wrote: Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        match wrote {
            Poll::Ready(Ok(count)) => {
                if let Some((_, written)) = &mut self.late {
                    *written += count;
                    if *written >= BYTES_MIN {
                        self.late = None;
                    }
                }
                wrote
            }
            Poll::Ready(Err(_)) => wrote,
            Poll::Pending => {
                let limit = self.limit;
                let (late, _) = self.late.get_or_insert_with(|| (Box::pin(sleep(limit)), 0));
                ready!(late.as_mut().poll(context));
                self.cut.fetch_add(1, Ordering::Relaxed);
                Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, "the client does not read")))
            }
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for MinRate<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, into)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for MinRate<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let wrote = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.wrote(context, wrote)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let wrote = Pin::new(&mut self.stream).poll_write_vectored(context, bytes);
        self.wrote(context, wrote)
    }

    /// Without it, data would be copied before it is sent, and its permit released too early.
    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    /// Called when all is written.
    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.late = None;
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::task::Waker;
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};

    fn min_rate<S>(stream: S, limit: Duration) -> MinRate<S> {
        MinRate { limit, ..MinRate::new(stream, Arc::default()) }
    }

    #[tokio::test]
    async fn a_reader_that_stops_is_disconnected() {
        let (reader, writer) = duplex(16 << 10);
        let mut writer = min_rate(writer, Duration::from_millis(1));
        let wrote = writer.write_all(&[7; 32 << 10]).await;
        assert_eq!(wrote.unwrap_err().kind(), io::ErrorKind::TimedOut);
        assert_eq!(writer.cut.load(Ordering::Relaxed), 1);
        drop(reader);
    }

    #[tokio::test]
    async fn only_enough_bytes_or_the_end_of_the_data_end_the_timeout() {
        let mut min_rate = min_rate(duplex(1).0, Duration::from_secs(3_600));
        let mut context = Context::from_waker(Waker::noop());
        assert!(min_rate.wrote(&mut context, Poll::Ready(Ok(7))).is_ready() && min_rate.late.is_none());
        assert!(min_rate.wrote(&mut context, Poll::Pending).is_pending());
        for count in [1, 1, BYTES_MIN - 3] {
            assert!(
                min_rate.wrote(&mut context, Poll::Ready(Ok(count))).is_ready() && min_rate.late.is_some()
            );
            assert!(min_rate.wrote(&mut context, Poll::Pending).is_pending(), "the timeout continues");
        }
        assert!(min_rate.wrote(&mut context, Poll::Ready(Ok(1))).is_ready() && min_rate.late.is_none());
        assert!(min_rate.wrote(&mut context, Poll::Pending).is_pending() && min_rate.late.is_some());
        min_rate.flush().await.unwrap();
        assert!(min_rate.late.is_none(), "with nothing to send it is not late");
    }

    #[tokio::test]
    async fn a_reader_that_keeps_up_gets_everything() {
        let (mut reader, writer) = duplex(1 << 10);
        let mut writer = min_rate(writer, Duration::from_secs(3_600));
        let mut got = Vec::new();
        let (wrote, read) = tokio::join!(
            async {
                writer.write_all(&[7; 320 << 10]).await?;
                writer.shutdown().await
            },
            reader.read_to_end(&mut got)
        );
        assert!(wrote.is_ok() && read.is_ok() && got == vec![7; 320 << 10]);
    }
}
