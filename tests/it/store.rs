//! The store on a real server: what events become, what repeats and broken connections do, and what it relies on.

mod batches;
mod bolt;
mod deadlock;
mod eviction;
mod failures;
mod faults;
mod outcomes;
mod pools;
mod requests;
mod retention;
mod schema;
mod scratch;
mod shared;
mod sizes;
mod traps;
