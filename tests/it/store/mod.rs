//! The store on a real server: what events become, what repeats and broken connections do, and what it relies on.

mod batches;
mod deadlock;
mod eviction;
mod faults;
mod requests;
mod schema;
mod scratch;
mod sizes;
mod traps;
