//! The jobs on a real server, a file for each verb and for what all of them keep.

mod adoption;
mod audit;
mod bisect;
mod clock;
mod cluster;
mod coactivate;
mod damage;
mod decay;
mod dry_run;
mod embed;
mod evaporate;
mod fade;
mod foreign;
pub(crate) mod learn;
mod ledger;
mod libraries;
mod others;
mod plan;
mod poison;
mod promote;
mod quarantine;
mod reap;
mod reinforce;
mod session;
pub(crate) mod sweep;
mod tunables;
