//! Simulation of a colony in a small palace, and its emergent behaviour. Each agent chooses by the resistance of the
//! law alone; a seed breaks ties, so each run is the same.

use super::tests::documented;
use super::*;

/// Paths from the entrance to the goal, each of two edges through its own room.
const ROOMS: usize = 4;

struct Colony {
    edges: [[Edge; 2]; ROOMS],
    rooms: [Place; ROOMS],
    laws: Evaporation,
    cycle: i64,
    seed: u64,
}

impl Colony {
    fn new() -> Self {
        Self {
            edges: [[Edge::default(); 2]; ROOMS],
            rooms: [Place::default(); ROOMS],
            laws: documented(),
            cycle: 0,
            seed: 7,
        }
    }

    /// A pseudo-random number in `0..1`.
    fn drawn(&mut self) -> f64 {
        self.seed = self.seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        f64::from(u32::try_from(self.seed >> 32).unwrap_or(0)) / f64::from(u32::MAX)
    }

    fn pull(&self, room: usize) -> f64 {
        let place = self.rooms[room].evaporated(self.cycle, &self.laws);
        1.0 / resistance(self.cost(room), &place)
    }

    fn cost(&self, room: usize) -> f64 {
        self.edges[room][0].evaporated(self.cycle, &self.laws).cost(0.5)
    }

    /// The next room of an agent: random, with preference for those of least resistance.
    fn chosen(&mut self) -> usize {
        let pulls: Vec<f64> = (0..ROOMS).map(|room| self.pull(room).powi(4)).collect();
        let mut left = self.drawn() * pulls.iter().sum::<f64>();
        for (room, pull) in pulls.iter().enumerate() {
            left -= pull;
            if left <= 0.0 {
                return room;
            }
        }
        ROOMS - 1
    }

    fn succeed(&mut self, room: usize) {
        for (index, edge) in self.edges[room].iter_mut().enumerate() {
            *edge = edge.succeeded((index, 2), Pheromone::ONE, self.cycle, &self.laws);
        }
        self.rooms[room] = self.rooms[room].exploited(self.cycle, &self.laws);
    }

    fn explore(&mut self, room: usize) {
        self.rooms[room] = self.rooms[room].explored(self.cycle, &self.laws);
    }

    fn edge(&self, room: usize) -> Edge {
        self.edges[room][0].evaporated(self.cycle, &self.laws)
    }
}

fn value(pheromone: Option<Pheromone>) -> f64 {
    pheromone.map_or(0.0, Pheromone::value)
}

#[test]
fn highways_form() {
    let mut colony = Colony::new();
    let mut visits = [0_u32; ROOMS];
    for _ in 0..400 {
        let room = colony.chosen();
        visits[room] += 1;
        // Only one room holds the goal.
        if room == 2 {
            colony.succeed(room)
        } else {
            colony.explore(room)
        }
        colony.cycle += 1;
    }
    assert!(visits[2] > 240, "more than half of all walks, of four rooms: {visits:?}");
    assert!(colony.cost(2) < 0.3 && colony.cost(0) > 0.49, "and the path is cheaper");
    assert!(visits.iter().all(|visits| *visits > 0), "the others are still looked at");
}

#[test]
fn explored_areas_come_back_before_valuable_ones_lose_their_signal() {
    let mut colony = Colony::new();
    for room in 0..2 {
        for _ in 0..5 {
            colony.explore(room);
        }
    }
    for _ in 0..5 {
        colony.succeed(0);
    }
    assert!(colony.pull(1) < colony.pull(3), "just searched: try elsewhere");
    colony.cycle = 40;
    let (room, start) = (colony.rooms[0].evaporated(40, &colony.laws), 1.5);
    assert!(value(room.exploration) < 0.15 * start, "the warning has gone");
    assert!(value(room.exploitation) > 0.4, "and its worth has not");
    assert!(colony.pull(0) > colony.pull(3), "so that it draws again");
    assert!(colony.pull(1) > 0.8 * colony.pull(3), "and what was searched in vain is open again");
}

#[test]
fn recency_boosts_for_about_seven_cycles() {
    let mut colony = Colony::new();
    colony.succeed(0);
    let boost = |colony: &Colony| value(colony.edge(0).recency);
    assert!((boost(&colony) - 1.0).abs() < 1e-12);
    colony.cycle = 6;
    assert!(boost(&colony) > 0.5);
    colony.cycle = 7;
    assert!(boost(&colony) < 0.5);
    colony.cycle = 70;
    assert!(value(colony.edge(0).recency) == 0.0 && value(colony.edge(0).success) > 0.45);
}

#[test]
fn quality_outlasts_popularity() {
    let mut colony = Colony::new();
    // One path succeeded ten times; the other was only walked, equally often.
    for _ in 0..10 {
        colony.succeed(0);
        let edge = colony.edges[1][0];
        let walked = edge.succeeded((1, 1), Pheromone::ONE, colony.cycle, &colony.laws);
        colony.edges[1][0] = walked;
        colony.cycle += 1;
    }
    assert!(value(colony.edge(1).success) < 1e-12, "no success was deposited there");
    colony.cycle += 150;
    assert!(colony.cost(0) < 0.38 && colony.cost(1) > 0.499, "{} {}", colony.cost(0), colony.cost(1));
}

#[test]
fn paths_that_never_succeed_fade_to_nothing() {
    let mut colony = Colony::new();
    for _ in 0..20 {
        colony.explore(3);
        colony.edges[3][0] = colony.edges[3][0].succeeded((1, 1), Pheromone::ONE, colony.cycle, &colony.laws);
        colony.cycle += 1;
    }
    assert!(!colony.edge(3).is_silent());
    colony.cycle += 250;
    assert!(colony.edge(3).is_silent(), "{:?}", colony.edge(3));
    assert!(colony.rooms[3].evaporated(colony.cycle, &colony.laws).is_silent());
    assert!((colony.cost(3) - 0.5).abs() < 1e-12, "the cost is the initial one");
}
