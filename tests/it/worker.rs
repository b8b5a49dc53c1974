//! The worker as a process: its schedule, its probes, its configuration, its end. What needs a clock that a test moves
//! drives the dispatcher itself.

mod clocks;
mod configuration;
mod downtime;
mod hand;
mod lags;
mod panics;
mod port;
pub(crate) mod process;
mod readiness;
mod schedule;
mod stop;
mod tunables;
