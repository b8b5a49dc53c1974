//! The routes of all families. A family is a file with a function `routes`, and a line here. The server mounts them, the
//! OpenAPI document lists them, and the tests ask each of them with every kind of key.

use super::route::Route;
use super::{engine, facts, jobs, memories, outcomes, recall, relations, server, sweeps, trails};

/// Every family of routes.
const FAMILIES: [fn() -> Vec<Route>; 10] = [
    relations::routes,
    memories::routes,
    facts::routes,
    sweeps::routes,
    trails::routes,
    recall::routes,
    engine::routes,
    outcomes::routes,
    jobs::routes,
    server::routes,
];

/// All routes.
pub(super) fn routes() -> Vec<Route> {
    FAMILIES.iter().flat_map(|family| family()).collect()
}
