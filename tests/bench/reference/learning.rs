//! Learning over the whole graph, in f64: each tick looks at every edge, to strengthen it or to let it fade, adds up what
//! was learned on the way to every node, and looks at every edge again, to scale what is too much.

use super::Plain;

/// An edge and what it learned.
#[derive(Clone, Copy)]
struct Edge {
    source: u32,
    target: u32,
    base: f32,
    excitatory: bool,
    /// Whether it learned anything that is left.
    known: bool,
    ltp: bool,
    ltd: bool,
    delta: f64,
    perm: f64,
    up: u32,
    down: u32,
}

/// A graph that learns.
pub(crate) struct Sweep {
    edges: Vec<Edge>,
    /// What leads to each node by bases.
    bases: Vec<f64>,
    floor: f64,
    cap: f64,
}

impl Edge {
    fn weight(&self, floor: f64, cap: f64) -> f64 {
        (f64::from(self.base) + self.perm + self.delta).clamp(floor, cap)
    }

    /// How much the weight differs from that of the base.
    fn differs(&self, floor: f64, cap: f64) -> f64 {
        self.weight(floor, cap) - f64::from(self.base).clamp(floor, cap)
    }

    fn strengthen(&mut self, gain: f64, cap: f64) {
        self.known = true;
        self.delta = (self.delta + gain).min((cap - f64::from(self.base) - self.perm).max(0.0));
        self.up += 1;
        self.down = 0;
        if self.up >= 5 && !self.ltp {
            self.perm = (self.perm + 0.15).min(0.15);
            self.ltp = true;
        }
    }

    fn fade(&mut self, source_was_active: bool) {
        self.delta *= 1.0 - 0.005;
        if self.delta < 0.0001 {
            self.delta = 0.0;
        }
        if self.delta <= 0.0 && self.perm.abs() <= 0.0 && !self.ltp && !self.ltd {
            (self.known, self.up, self.down) = (false, 0, 0);
        } else if source_was_active {
            self.up = 0;
            self.down += 1;
            if self.down >= 5 && !self.ltd {
                self.perm = (self.perm - 0.15).max(-0.15);
                self.ltd = true;
            }
        }
    }

    /// Leaves a share of what it adds to its base.
    fn scale(&mut self, share: f64, floor: f64, cap: f64) {
        let added = self.differs(floor, cap);
        if added > 0.0 {
            let base = f64::from(self.base);
            let learned = base.clamp(floor, cap) + share * added - base;
            if self.perm > 0.0 {
                self.perm = (share * self.perm).min(learned);
            }
            self.delta = (learned - self.perm).max(0.0);
        }
    }
}

impl Sweep {
    /// A graph that has learned nothing yet, between whose floor and cap weights lie.
    pub(crate) fn of(graph: &Plain, floor: f32, cap: f32) -> Self {
        let (floor, cap) = (f64::from(floor), f64::from(cap));
        let (mut edges, mut bases) = (Vec::with_capacity(graph.targets.len()), vec![0.0; graph.nodes()]);
        for source in 0..graph.nodes() {
            for slot in graph.row(source) {
                let edge = Edge {
                    source: source as u32,
                    target: graph.targets[slot],
                    base: graph.weights[slot],
                    excitatory: !graph.inhibitory[slot],
                    known: false,
                    ltp: false,
                    ltd: false,
                    delta: 0.0,
                    perm: 0.0,
                    up: 0,
                    down: 0,
                };
                if edge.excitatory {
                    bases[edge.target as usize] += f64::from(edge.base).clamp(floor, cap);
                }
                edges.push(edge);
            }
        }
        Self { edges, bases, floor, cap }
    }

    /// One outcome: nodes, each once, with how active they were.
    pub(crate) fn tick(&mut self, active: &[(u32, f64)]) {
        let Self { edges, bases, floor, cap } = self;
        let (floor, cap) = (*floor, *cap);
        let mut activation = vec![0.0; bases.len()];
        for (node, value) in active {
            activation[*node as usize] = *value;
        }
        let mut struck = vec![false; bases.len()];
        for edge in edges.iter_mut() {
            let (from, to) = (activation[edge.source as usize], activation[edge.target as usize]);
            if edge.excitatory && from > 0.0 && to > 0.0 {
                edge.strengthen(0.08 * from * to, cap);
                struck[edge.target as usize] = true;
            } else if edge.known {
                edge.fade(from > 0.0);
            }
        }
        let (mut more, mut less) = (vec![0.0; bases.len()], vec![0.0; bases.len()]);
        for edge in edges.iter().filter(|edge| edge.known) {
            let differs = edge.differs(floor, cap);
            if differs > 0.0 {
                more[edge.target as usize] += differs;
            } else {
                less[edge.target as usize] += differs;
            }
        }
        for edge in edges.iter_mut().filter(|edge| edge.known) {
            let at = edge.target as usize;
            let ceiling = f64::max(5.0, 1.25 * bases[at]);
            if struck[at] && bases[at] + less[at] + more[at] > ceiling {
                edge.scale((ceiling - bases[at] - less[at]) / more[at], floor, cap);
            }
        }
    }

    /// What each edge weighs, in the order of the slots.
    pub(crate) fn weights(&self) -> impl Iterator<Item = f64> {
        self.edges.iter().map(|edge| edge.weight(self.floor, self.cap))
    }
}
