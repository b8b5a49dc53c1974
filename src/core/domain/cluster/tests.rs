//! Random histories of pairs in any order, compared with a graph search through the last state.

use super::*;
use proptest::prelude::*;

fn name(n: u8) -> String {
    format!("m{n:02}")
}

fn strong(a: u8, b: u8, weight: u32) -> Strong {
    Strong { a: name(a), b: name(b), weight: f64::from(weight) }
}

/// Stored nodes.
#[derive(Debug, Default, Clone)]
struct Kept {
    clusters: Vec<Cluster>,
    made: usize,
}

impl Kept {
    fn apply(&mut self, plan: &Plan) {
        for (memory, id) in &plan.leaves {
            self.of(id).members.remove(memory);
        }
        for id in &plan.dissolved {
            let cluster = self.of(id);
            cluster.dissolved = true;
        }
        let mut ids = Vec::new();
        for settled in &plan.settled {
            let id = settled.id.clone().unwrap_or_else(|| {
                self.made += 1;
                let id = format!("c{}", self.made);
                self.clusters.push(Cluster {
                    id: id.clone(),
                    key: None,
                    strength: None,
                    size: None,
                    dissolved: false,
                    members: BTreeSet::new(),
                });
                id
            });
            let cluster = self.of(&id);
            cluster.key = Some(settled.key.clone());
            cluster.strength = Some(settled.strength);
            cluster.size = Some(settled.members.len());
            cluster.dissolved = false;
            ids.push(id);
        }
        for (memory, index) in &plan.joins {
            self.of(&ids[*index]).members.insert(memory.clone());
        }
    }

    fn of(&mut self, id: &str) -> &mut Cluster {
        self.clusters.iter_mut().find(|cluster| cluster.id == id).unwrap()
    }

    fn live(&self) -> BTreeMap<String, (BTreeSet<String>, f64)> {
        let live = self.clusters.iter().filter(|cluster| !cluster.dissolved);
        live.map(|c| (c.key.clone().unwrap(), (c.members.clone(), c.strength.unwrap()))).collect()
    }
}

/// A pair that becomes strong, or ceases to be.
fn changes() -> impl Strategy<Value = Vec<(u8, u8, u32)>> {
    let change = (0_u8..12, 0_u8..12, prop_oneof![Just(0_u32), 4_u32..9]);
    prop::collection::vec(change.prop_filter("two memories", |(a, b, _)| a != b), 0..60)
}

fn state(changes: &[(u8, u8, u32)]) -> Vec<Strong> {
    let mut pairs = BTreeMap::new();
    for (a, b, weight) in changes {
        let pair = (*a.min(b), *a.max(b));
        if *weight == 0 {
            pairs.remove(&pair)
        } else {
            pairs.insert(pair, *weight)
        };
    }
    pairs.into_iter().map(|((a, b), weight)| strong(a, b, weight)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1024))]

    #[test]
    fn any_history_ends_alike(changes in changes(), cuts in prop::collection::vec(0_usize..60, 0..8)) {
        let mut kept = Kept::default();
        let mut seen = cuts;
        seen.push(changes.len());
        seen.sort_unstable();
        for cut in seen {
            let pairs = state(&changes[..cut.min(changes.len())]);
            let mut shuffled = pairs.clone();
            shuffled.reverse();
            let plan = settle(&pairs, &kept.clusters);
            prop_assert_eq!(&plan, &settle(&shuffled, &kept.clusters), "independent of the order of pairs");
            kept.apply(&plan);
            prop_assert_eq!(kept.live(), components(&pairs));
            prop_assert!(settle(&pairs, &kept.clusters).is_empty(), "settling again changes nothing");
            let keys: Vec<&String> = kept.clusters.iter().filter_map(|cluster| cluster.key.as_ref()).collect();
            let distinct: BTreeSet<&String> = keys.iter().copied().collect();
            prop_assert_eq!(keys.len(), distinct.len(), "no two nodes have one key");
            let dissolved = kept.clusters.iter().filter(|cluster| cluster.dissolved);
            prop_assert!(dissolved.into_iter().all(|cluster| cluster.members.is_empty()));
        }
    }

    #[test]
    fn components_are_what_a_search_finds(changes in changes()) {
        let pairs = state(&changes);
        let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for start in 0..12 {
            let mut reached = BTreeSet::from([name(start)]);
            loop {
                let more: Vec<String> = pairs
                    .iter()
                    .filter(|pair| reached.contains(&pair.a) != reached.contains(&pair.b))
                    .flat_map(|pair| [pair.a.clone(), pair.b.clone()])
                    .collect();
                if more.is_empty() {
                    break;
                }
                reached.extend(more);
            }
            if reached.len() > 1 {
                found.insert(reached.first().unwrap().clone(), reached);
            }
        }
        let settled: BTreeMap<String, BTreeSet<String>> =
            components(&pairs).into_iter().map(|(key, (members, _))| (key, members)).collect();
        prop_assert_eq!(settled, found);
    }
}

#[test]
fn clusters_merge_into_the_smaller_key_and_a_lone_member_leaves() {
    let mut kept = Kept::default();
    kept.apply(&settle(&[strong(1, 2, 4), strong(5, 6, 7)], &[]));
    let (first, second) = (kept.clusters[0].id.clone(), kept.clusters[1].id.clone());
    let joined = [strong(1, 2, 4), strong(2, 5, 5), strong(5, 6, 7)];
    let plan = settle(&joined, &kept.clusters);
    assert_eq!(plan.dissolved, std::slice::from_ref(&second));
    kept.apply(&plan);
    assert_eq!(kept.live()["m01"].1.to_bits(), 7.0_f64.to_bits());

    // The member that gave the key leaves: the node remains, with the next smallest key.
    let plan = settle(&joined[1..], &kept.clusters);
    assert_eq!((plan.settled[0].id.as_ref(), plan.settled[0].key.as_str()), (Some(&first), "m02"));
    assert_eq!(plan.leaves, [(name(1), first.clone())]);
    kept.apply(&plan);

    // A cluster with one member is dissolved; the same two members later reuse its node.
    let plan = settle(&[strong(5, 6, 7)], &kept.clusters);
    assert_eq!(plan.settled[0].id.as_ref(), Some(&second), "the node that had this key before");
    kept.apply(&plan);
    let plan = settle(&[], &kept.clusters);
    assert_eq!(plan.dissolved, [second]);
}

#[test]
fn what_another_writer_made_for_each_pair_becomes_one() {
    let foreign = |id: &str, a: u8, b: u8| Cluster {
        id: id.to_owned(),
        key: None,
        strength: Some(4.0),
        size: None,
        dissolved: false,
        members: BTreeSet::from([name(a), name(b)]),
    };
    let plan = settle(
        &[strong(1, 2, 4), strong(2, 3, 4), strong(1, 3, 4)],
        &[foreign("x", 1, 2), foreign("y", 2, 3), foreign("z", 1, 3)],
    );
    assert_eq!(plan.settled.len(), 1);
    assert_eq!(plan.settled[0].id.as_deref(), Some("x"));
    assert_eq!(plan.dissolved, ["y", "z"]);
    assert_eq!(plan.joins, [(name(3), 0)]);
}
