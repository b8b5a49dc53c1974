//! Places for the nodes of a small graph, by forces: nodes push each other away, and connected ones pull each other closer.
//!
//! The method of Fruchterman and Reingold, from places on a spiral in the order of the nodes, so that the same graph has the same
//! picture. Each step moves a node less than the one before. The cost is that of all pairs of nodes, so it is for tens of nodes.

/// Steps.
const STEPS: u32 = 400;
/// Angle between two nodes of the spiral: no two directions are the same.
const GOLDEN_ANGLE: f64 = 2.399_963_229_728_653;
/// Pull towards the centre, by which parts without connection stay in the picture.
const CENTRE: f64 = 0.6;

/// The places of `count` nodes in a rectangle of these sides, which they fill. `ties` are pairs of connected nodes.
pub(super) fn places(count: usize, ties: &[(usize, usize)], (width, height): (f64, f64)) -> Vec<(f64, f64)> {
    let nodes = f64::from(u32::try_from(count).unwrap_or(u32::MAX).max(1));
    let ideal = (1.0 / nodes).sqrt();
    let mut places: Vec<(f64, f64)> = (0..u32::try_from(count).unwrap_or(0))
        .map(|at| {
            let (angle, radius) = (f64::from(at) * GOLDEN_ANGLE, 0.5 * (f64::from(at + 1) / nodes).sqrt());
            (radius * angle.cos(), radius * angle.sin())
        })
        .collect();
    for step in 0..STEPS {
        let most = 0.1 * (1.0 - f64::from(step) / f64::from(STEPS));
        let moves = moves(&places, ties, ideal);
        for (place, (x, y)) in places.iter_mut().zip(moves) {
            let length = x.hypot(y);
            if length > 0.0 {
                let share = length.min(most) / length;
                *place = (place.0 + x * share, place.1 + y * share);
            }
        }
    }
    fitted(&places, (width, height))
}

/// The sum of the forces on each node.
fn moves(places: &[(f64, f64)], ties: &[(usize, usize)], ideal: f64) -> Vec<(f64, f64)> {
    let between = |a: (f64, f64), b: (f64, f64)| {
        let (x, y) = (a.0 - b.0, a.1 - b.1);
        (x, y, x.hypot(y).max(1e-6))
    };
    let pushed = |at: usize| {
        let others = places.iter().enumerate().filter(|(other, _)| *other != at);
        let start = (-CENTRE * ideal * places[at].0, -CENTRE * ideal * places[at].1);
        others.fold(start, |(sum_x, sum_y), (_, other)| {
            let (x, y, length) = between(places[at], *other);
            let force = ideal * ideal / (length * length);
            (sum_x + x * force, sum_y + y * force)
        })
    };
    let mut moves: Vec<(f64, f64)> = (0..places.len()).map(pushed).collect();
    for (from, to) in ties.iter().filter(|(from, to)| from != to) {
        let (x, y, length) = between(places[*from], places[*to]);
        let force = length / ideal;
        for (node, sign) in [(*from, -1.0), (*to, 1.0)] {
            moves[node].0 += sign * x * force;
            moves[node].1 += sign * y * force;
        }
    }
    moves
}

/// The places stretched to the sides of the rectangle.
fn fitted(places: &[(f64, f64)], (width, height): (f64, f64)) -> Vec<(f64, f64)> {
    let ends = |of: &dyn Fn(&(f64, f64)) -> f64| {
        places.iter().map(of).fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), value| {
            (least.min(value), most.max(value))
        })
    };
    let (across, down) = (ends(&|place| place.0), ends(&|place| place.1));
    let share = |value: f64, (least, most): (f64, f64)| {
        if most - least > 1e-9 { (value - least) / (most - least) } else { 0.5 }
    };
    places.iter().map(|(x, y)| (width * share(*x, across), height * share(*y, down))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn length(places: &[(f64, f64)], a: usize, b: usize) -> f64 {
        (places[a].0 - places[b].0).hypot(places[a].1 - places[b].1)
    }

    #[test]
    fn connected_nodes_are_closer_and_all_are_inside() {
        // Two rings of six, joined by one tie.
        let ring = |from: usize| (0..6).map(move |at| (from + at, from + (at + 1) % 6));
        let ties: Vec<(usize, usize)> = ring(0).chain(ring(6)).chain([(0, 6)]).collect();
        let sides = (900.0, 600.0);
        let found = places(12, &ties, sides);
        assert!(found.iter().all(|(x, y)| (0.0..=sides.0).contains(x) && (0.0..=sides.1).contains(y)));
        let mean = |pairs: Vec<(usize, usize)>| {
            let count = f64::from(u32::try_from(pairs.len()).unwrap());
            pairs.iter().map(|(a, b)| length(&found, *a, *b)).sum::<f64>() / count
        };
        let across = (1..6).flat_map(|a| (7..12).map(move |b| (a, b))).collect();
        assert!(mean(ties.clone()) < 0.6 * mean(across), "{found:?}");
        assert_eq!(found, places(12, &ties, sides), "the same graph has the same picture");
    }

    #[test]
    fn few_nodes_have_places_too() {
        assert!(places(0, &[], (9.0, 9.0)).is_empty());
        assert_eq!(places(1, &[(0, 0)], (8.0, 4.0)), [(4.0, 2.0)]);
        let two = places(2, &[(0, 1)], (8.0, 4.0));
        assert!(length(&two, 0, 1) > 1.0 && two.iter().all(|(x, y)| x.is_finite() && y.is_finite()));
    }
}
