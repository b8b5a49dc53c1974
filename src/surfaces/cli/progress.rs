//! Progress of work that takes a while: one line on stderr.
//!
//! It appears only on a terminal and only after half a second: a bar that only flashes is useless.

use super::output::Output;
use super::page::harmless;
use indicatif::{HumanFloatCount, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use std::fmt;
use std::io::Write;
use std::time::{Duration, Instant};

const SHOWN_AFTER: Duration = Duration::from_millis(500);
/// How often the line of a wait is drawn.
const DRAWN_EVERY: Duration = Duration::from_millis(100);

/// A line that shows how far a piece of work has come; it goes away when dropped.
#[derive(Debug)]
pub struct Progress {
    bar: ProgressBar,
    begun: Instant,
    wanted: bool,
}

impl Progress {
    /// Work of `total` steps, or of unknown length. `what` names the steps: "events".
    #[must_use]
    pub fn new(output: &Output, what: &'static str, total: Option<u64>) -> Self {
        let form = match total {
            Some(_) => "{msg} {wide_bar} {human_pos}/{human_len}  {rate}  {eta} left",
            None => "{spinner} {human_pos} {msg}  {rate}  {elapsed}",
        };
        Self::formed(output, what, total, form)
    }

    /// Reading a file of `total` bytes. `what` names the work: "importing".
    #[must_use]
    pub fn of_file(output: &Output, what: &'static str, total: u64) -> Self {
        Self::formed(output, what, Some(total), "{msg} {wide_bar} {bytes}/{total_bytes}  {eta} left")
    }

    fn formed(output: &Output, what: &'static str, total: Option<u64>, form: &str) -> Self {
        let bar = ProgressBar::with_draw_target(total, ProgressDrawTarget::hidden());
        // The form is a literal; should it ever not parse, indicatif's own will do.
        if let Ok(style) = ProgressStyle::with_template(form) {
            bar.set_style(style.with_key("rate", rate));
        }
        bar.set_message(what);
        Self { bar, begun: Instant::now(), wanted: output.shows_progress() }
    }

    /// Shows `what` is waited for and for how long, until the work ends.
    pub async fn during<T>(output: &Output, what: fn() -> String, work: impl Future<Output = T>) -> T {
        let mut progress = Self::formed(output, "", None, "{spinner} {wide_msg} {elapsed}");
        let mut work = std::pin::pin!(work);
        loop {
            match tokio::time::timeout(DRAWN_EVERY, &mut work).await {
                Ok(done) => return done,
                Err(_) => {
                    progress.name(harmless(&what()));
                    progress.at(0);
                }
            }
        }
    }

    /// So many steps are done.
    pub fn at(&mut self, done: u64) {
        if self.wanted && self.begun.elapsed() >= SHOWN_AFTER {
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
            self.wanted = false;
        }
        self.bar.set_position(done);
        self.bar.tick();
    }

    /// Replaces the message.
    pub fn name(&self, what: String) {
        self.bar.set_message(what);
    }

    /// Writes a line to stderr without tearing the bar.
    pub fn say(&self, line: &str) {
        // If stderr cannot be written, nothing can report it.
        self.bar.suspend(|| {
            let _ = writeln!(std::io::stderr(), "{}", harmless(line));
        });
    }
}

/// Steps a second, as many digits as tell something: indicatif's own rate has four behind the point.
fn rate(state: &ProgressState, line: &mut dyn fmt::Write) {
    let rate = state.per_sec();
    let digits = if rate < 10.0 { 1 } else { 0 };
    // A failure to write into a text in memory leaves the text shorter.
    let _ = write!(line, "{:.digits$}/s", HumanFloatCount(rate));
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
