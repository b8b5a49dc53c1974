//! Cheapest path in the loaded part of a palace.
//!
//! The whole palace is never read: a search reads it wave by wave around the start, nearest first, and calls this after
//! each. A path is the cheapest as soon as its cost is at most that of any place whose edges are still unread, since
//! costs are never negative.

use petgraph::algo::{astar, dijkstra};
use petgraph::graph::{NodeIndex, UnGraph};
use std::collections::BTreeSet;

/// An edge between two places, by their numbers, traversable in both directions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Link {
    pub from: usize,
    pub to: usize,
    /// Cost, `0 ..= 10`.
    pub cost: f64,
}

/// A path.
#[derive(Debug, Clone, PartialEq)]
pub struct Route {
    /// Places in order, from the start to the goal.
    pub places: Vec<usize>,
    /// Links between them, by number.
    pub links: Vec<usize>,
    pub cost: f64,
}

/// State of a search.
#[derive(Debug, Clone, PartialEq)]
pub enum Found {
    /// The cheapest path.
    Cheapest(Route),
    /// The cheapest path so far, if any, and the unread places that might give a cheaper one, nearest first.
    Open(Option<Route>, Vec<usize>),
    Nowhere,
}

/// Finds the cheapest path from `start` to `goal` among `places` places and their links. `read` are the places with all
/// links known. The order of the links decides between paths of equal cost.
#[must_use]
pub fn route(places: usize, links: &[Link], read: &BTreeSet<usize>, start: usize, goal: usize) -> Found {
    let mut graph = UnGraph::<(), (f64, usize)>::with_capacity(places, links.len());
    let nodes: Vec<NodeIndex> = (0..places).map(|_| graph.add_node(())).collect();
    for (number, link) in links.iter().enumerate() {
        graph.add_edge(nodes[link.from], nodes[link.to], (link.cost, number));
    }
    let reached = dijkstra(&graph, nodes[start], None, |edge| edge.weight().0);
    // The goal is reached over one of its links.
    let last = links.iter().filter(|link| link.from == goal || link.to == goal).map(|link| link.cost);
    let last = last.reduce(f64::min).unwrap_or(0.0);
    let ahead = |node: NodeIndex| if node == nodes[goal] { 0.0 } else { last };
    let way = astar(&graph, nodes[start], |node| node == nodes[goal], |edge| edge.weight().0, ahead);
    let found = way.map(|(cost, nodes)| {
        let places: Vec<usize> = nodes.iter().map(|node| node.index()).collect();
        let links = places.windows(2).map(|step| cheapest(links, step[0], step[1])).collect();
        Route { places, links, cost }
    });
    let bound = found.as_ref().map_or(f64::INFINITY, |route| route.cost);
    let mut open: Vec<(f64, usize)> = reached
        .into_iter()
        .map(|(node, cost)| (cost, node.index()))
        .filter(|(cost, place)| !read.contains(place) && *cost < bound)
        .collect();
    if open.is_empty() {
        return found.map_or(Found::Nowhere, Found::Cheapest);
    }
    open.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    Found::Open(found, open.into_iter().map(|(_, place)| place).collect())
}

/// The cheapest link between two places; of equal ones the first.
fn cheapest(links: &[Link], a: usize, b: usize) -> usize {
    let between = |link: &Link| (link.from, link.to) == (a, b) || (link.from, link.to) == (b, a);
    let all = links.iter().enumerate().filter(|(_, link)| between(link));
    all.min_by(|(_, one), (_, other)| one.cost.total_cmp(&other.cost)).map_or(0, |(number, _)| number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn any_links() -> impl Strategy<Value = Vec<Link>> {
        let link = (0..12_usize, 0..12_usize, 0..8_u8).prop_map(|(from, to, cost)| Link {
            from,
            to,
            cost: f64::from(cost) / 4.0,
        });
        prop::collection::vec(link, 0..40)
    }

    /// Bellman-Ford: relaxes every link as many times as there are places.
    fn textbook(links: &[Link], start: usize) -> Vec<f64> {
        let mut cost = vec![f64::INFINITY; 12];
        cost[start] = 0.0;
        for _ in 0..12 {
            for link in links {
                cost[link.to] = cost[link.to].min(cost[link.from] + link.cost);
                cost[link.from] = cost[link.from].min(cost[link.to] + link.cost);
            }
        }
        cost
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1024))]

        #[test]
        fn it_is_what_the_textbook_finds(links in any_links(), start in 0..12_usize, goal in 0..12_usize) {
            let all: BTreeSet<usize> = (0..12).collect();
            let wanted = textbook(&links, start)[goal];
            match route(12, &links, &all, start, goal) {
                Found::Cheapest(route) => {
                    prop_assert!((route.cost - wanted).abs() < 1e-9);
                    prop_assert_eq!((route.places[0], *route.places.last().unwrap()), (start, goal));
                    let walked: f64 = route.links.iter().map(|link| links[*link].cost).sum();
                    prop_assert!((walked - wanted).abs() < 1e-9, "its links are those that it costs");
                }
                Found::Nowhere => prop_assert!(wanted.is_infinite()),
                Found::Open(..) => prop_assert!(false, "all places are read"),
            }
        }

        #[test]
        fn reading_wave_by_wave_ends_at_the_same(links in any_links(), start in 0..12_usize, goal in 0..12_usize) {
            let wanted = textbook(&links, start)[goal];
            let (mut read, mut known) = (BTreeSet::new(), Vec::new());
            loop {
                match route(12, &known, &read, start, goal) {
                    Found::Open(_, open) => {
                        let place = open[0];
                        read.insert(place);
                        let new = links.iter().filter(|link| link.from == place || link.to == place);
                        let new: Vec<Link> = new.filter(|link| !known.contains(*link)).copied().collect();
                        known.extend(new);
                    }
                    Found::Cheapest(route) => {
                        prop_assert!((route.cost - wanted).abs() < 1e-9);
                        break;
                    }
                    Found::Nowhere => {
                        prop_assert!(wanted.is_infinite());
                        break;
                    }
                }
            }
        }
    }
}
