//! HTTP: agents and programs ask here, and supervisors; loopback by default.
//!
//! `listener` is the port and its limits, `pace` that of a reader; `door` says who may come in; `room` is what its requests share, by `shares`; a
//! `route` is a typed function; `input` reads what a request says, `pages` sends long lists, `problem` says what went wrong; `families` puts them together, `router` serves them, `openapi` describes them. A
//! family (`relations`, `memories`, `facts`, `sweeps`, `trails`, `recall`, `engine`, `outcomes`, `jobs`, `server`) is one file: its
//! routes, and a few lines for each. `status` is the page for a browser, which asks them.

mod api;
mod door;
mod engine;
mod facts;
mod families;
mod input;
mod jobs;
mod listener;
mod memories;
mod openapi;
mod outcomes;
mod pace;
mod pages;
pub mod probes;
mod problem;
mod recall;
mod relations;
mod room;
mod route;
mod router;
mod server;
mod shares;
mod status;
mod sweeps;
mod trails;

pub use api::{Answered, Api};
pub use door::Rules;
pub(super) use input::{KEY_MAX, error_at};
pub use listener::Listener;
pub(super) use outcomes::UsedHit;
pub(super) use room::Kind;
pub use room::{Held, Usage};
pub use router::router;
