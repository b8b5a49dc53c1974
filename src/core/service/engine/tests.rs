//! The documented examples of the mechanisms, on small graphs and on that of the stories.

use super::*;
use crate::api::engine::{
    CommunitiesRequest, HarmonicsRequest, ResonateAnswer, ResonateRequest, SweepStep, XlrAnswer, XlrRequest,
};
use crate::domain::ids::Term;
use crate::service::recall::Profile;
use crate::service::recall::view_of_file;
use ebb_engine::graph::builder::{EdgeRow, GraphBuilder, WeightRange};
use ebb_engine::graph::columns::NodeRow;
use ebb_engine::graph::kinds::NodeType;
use ebb_engine::graph::number::DecayFactor;
use ebb_engine::graph::snapshot::Snapshot;
use ebb_engine::recall::FusionWeights;
use std::f64::consts::{FRAC_PI_4, SQRT_2};
use std::path::Path;

fn view(nodes: u32, edges: &[(u32, u32, f32)]) -> View {
    let mut builder = GraphBuilder::default();
    for node in 0..nodes {
        builder.add_node(NodeRow::new(format!("n{node}"), "l", NodeType::Concept)).unwrap();
    }
    for (source, target, weight) in edges {
        let (source, target) = (format!("n{source}"), format!("n{target}"));
        let relation = "LEADS_TO".to_owned();
        builder
            .add_edge(&EdgeRow { source, target, relation, weight: *weight, ..EdgeRow::default() })
            .unwrap();
    }
    let graph = builder.finalize().unwrap();
    View::from_labels(Snapshot::from(graph)).unwrap()
}

fn chain(nodes: u32) -> View {
    view(nodes, &(1..nodes).map(|to| (to - 1, to, 1.0)).collect::<Vec<_>>())
}

/// The memory that the stories of docs/ use.
fn team() -> View {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/stories/team.json");
    view_of_file(&file, WeightRange::default()).unwrap().0
}

fn rules() -> RecallConfig {
    // The decay of the worked examples.
    let recall = ActivationConfig { decay: DecayFactor::REFERENCE, ..ActivationConfig::RECALL };
    RecallConfig::new(recall, ActivationConfig::REFERENCE, FusionWeights::default(), 1_000).unwrap()
}

fn from(id: &str) -> Vec<GivenSeed> {
    scored(id, 1.0)
}

fn scored(id: &str, score: f32) -> Vec<GivenSeed> {
    vec![GivenSeed { id: term(id), score }]
}

fn term(id: &str) -> Term {
    Term::try_from(id.to_owned()).unwrap()
}

fn waves(id: &str, hops: u8) -> HarmonicsRequest {
    HarmonicsRequest {
        seeds: from(id),
        frequency: 1.0,
        wavelength: None,
        hops,
        pulses: None,
        top_k: 20,
        scope: None,
    }
}

fn whole() -> CommunitiesRequest {
    CommunitiesRequest { resolution: 1.0, node: None, all: false, top_k: 20, members: None, scope: None }
}

#[track_caller]
fn near(got: f64, want: f64) {
    assert!((got - want).abs() < 1e-6, "{got}, not {want}");
}

fn contrasted(view: &View, id: &str, top_k: usize) -> XlrAnswer {
    xlr(view, &XlrRequest { seeds: from(id), top_k, scope: None }, &rules(), &mut Scratch::default()).unwrap()
}

fn resonant(view: &View, request: HarmonicsRequest, sympathetic: bool) -> ResonateAnswer {
    let request = ResonateRequest { sympathetic, ..request.into() };
    resonate(view, &request, &rules(), &mut Scratch::default()).unwrap()
}

#[test]
fn without_a_contrast_the_gate_is_of_the_hot_wave_alone() {
    let found = contrasted(&view(4, &[(0, 1, 0.8), (0, 2, 0.6), (1, 3, 0.9), (2, 3, 1.0)]), "n0", 20);
    assert_eq!((found.anti_seeds.len(), &found.state.flags[..]), (0, &["xlr_no_anti_seeds"][..]));
    assert_eq!((found.slots_read, found.nodes_touched, found.pulses), (4, 4, 4));
    let want = [
        ("n0", 1.0, 0.995_055),
        ("n1", 0.314_286, 0.736_532),
        ("n3", 0.285_214, 0.694_006),
        ("n2", 0.235_714, 0.608_882),
    ];
    assert_eq!(found.hits.len(), 4);
    for (place, (one, (id, activated, gate))) in (1..).zip(found.hits.iter().zip(want)) {
        let field = one.contrast.unwrap();
        assert_eq!((one.node.id.as_str(), one.was), (id, place));
        near(f64::from(one.activation), activated);
        near(f64::from(field.hot), activated);
        near(f64::from(field.net), activated);
        near(f64::from(field.gate), gate);
        near(f64::from(one.score), activated * gate);
        assert!(!field.immune && field.cold.to_bits() == 0);
    }
}

#[test]
fn neighbours_of_a_hub_are_suppressed() {
    let view = team();
    let found = contrasted(&view, "Ledger", 1_000);
    assert_eq!(found.anti_seeds, ["Wiki", "lunch-thursday", "typo-harbour"]);
    assert_eq!((found.hits.len(), found.state.flags.len()), (31, 0));
    let place = |id: &str| found.hits.iter().position(|one| one.node.id == id).unwrap();
    let hidden = place("backup-test");
    for id in ["rank-by-departure", "typo-harbour", "laptop-setup", "lunch-thursday", "style-guide"] {
        let crowd = &found.hits[place(id)];
        assert!(crowd.was < found.hits[hidden].was && place(id) > hidden, "{crowd:?}");
        assert!(crowd.score.to_bits() == 0 && crowd.activation > 0.0, "{crowd:?}");
    }
    assert!(found.hits[place("Kestrel")].contrast.unwrap().immune, "it is two steps from the seed");
    // The same nodes as in an activation with that profile.
    let request = ActivateRequest {
        seeds: from("Ledger"),
        profile: Profile::Recall,
        depth: None,
        top_k: 1_000,
        scope: None,
    };
    let activated = activate(&view, &request, &rules(), &mut Scratch::default()).unwrap();
    let mut before: Vec<(usize, &str, u32)> =
        found.hits.iter().map(|one| (one.was, one.node.id.as_str(), one.activation.to_bits())).collect();
    before.sort_unstable();
    let activated =
        (1..).zip(&activated.hits).map(|(was, one)| (was, one.node.id.as_str(), one.score.to_bits()));
    assert_eq!(before, activated.collect::<Vec<_>>());
}

#[test]
fn example_4_3b_a_dead_end_throws_waves_back() {
    let found = resonant(&chain(3), waves("n0", 4), false);
    let want = [("n0", SQRT_2, 5.497_787), ("n2", 1.0, FRAC_PI_4), ("n1", 0.765_367, 5.497_787)];
    assert_eq!(found.hits.len(), 3);
    for (one, (id, amplitude, phase)) in found.hits.iter().zip(want) {
        assert_eq!(one.node.id, id);
        near(f64::from(one.amplitude), amplitude);
        near(one.phase, phase);
        assert!(one.antinode && !one.quiet);
    }
    near(f64::from(found.hits[2].coherence), 0.382_683);
    near(found.energy, 3.585_786);
    assert!(found.sympathetic.is_none());
    assert_eq!(
        (found.waves.nodes_touched, found.waves.pulses, found.waves.dropped_energy.to_bits()),
        (3, 5, 0)
    );
}

#[test]
fn example_4_3c_a_hub_passes_on_and_throws_back() {
    let star = view(11, &(1..=10).map(|leaf| (0, leaf, 1.0)).collect::<Vec<_>>());
    let found = resonant(&star, waves("n1", 3), false);
    let ids: Vec<&str> = found.hits.iter().map(|one| one.node.id.as_str()).collect();
    assert_eq!(&ids[..4], ["n1", "n0", "n10", "n2"]);
    for (at, want) in [(0, 0.815_926), (1, 0.770_918), (2, 0.077_778), (10, 0.077_778)] {
        near(f64::from(found.hits[at].amplitude), want);
    }
    let cut = resonant(&star, HarmonicsRequest { pulses: Some(3), top_k: 1, ..waves("n1", 3) }, false);
    assert_eq!((cut.hits.len(), &cut.state.flags[..]), (1, &["resonance_truncated"][..]));
    assert!(cut.waves.dropped_energy > 0.0 && cut.waves.pulses == 3, "{:?}", cut.waves);
}

#[test]
fn example_4_3d_harmonics_of_a_wave_that_comes_back() {
    let chain = chain(3);
    let found = harmonics(&chain, waves("n0", 4), &rules(), &mut Scratch::default()).unwrap();
    let listed: Vec<(u8, &str)> = found.hits.iter().map(|one| (one.harmonic, one.node.id.as_str())).collect();
    assert_eq!(listed, [(1, "n2"), (2, "n0"), (4, "n1")]);
    let of_n1 = &found.hits[2];
    for (got, want) in of_n1.amplitudes.iter().zip([0.765_367, SQRT_2, 1.847_759, 2.0, 1.847_759]) {
        near(f64::from(*got), want);
    }
    assert_eq!((of_n1.amplitudes.len(), of_n1.score.to_bits()), (5, of_n1.amplitudes[3].to_bits()));
    let sizes: Vec<usize> = found.harmonics.iter().map(|one| one.nodes).collect();
    assert_eq!(sizes, [1, 1, 0, 1, 0]);
    for (one, want) in found.harmonics.iter().zip([3.585_786, 7.0, 6.414_214, 5.0, 6.414_214]) {
        near(one.energy, want);
        near(one.frequency, f64::from(one.harmonic));
    }
    assert_eq!((found.sweep.len(), found.sweep[0].period), (33, None));
    near(found.sweep[4].period.unwrap(), 16.0);
    let peaks: Vec<f64> =
        found.sweep.iter().filter(|step| step.resonant).map(|step| step.frequency).collect();
    assert_eq!(peaks.len(), 2);
    near(peaks[0], 2.25);
    near(peaks[1], 5.75);
    // Above half a turn per hop there is none.
    let high = HarmonicsRequest { frequency: 8.5, ..waves("n0", 4) };
    let none = harmonics(&chain, high, &rules(), &mut Scratch::default()).unwrap();
    assert_eq!((none.harmonics.len(), none.hits.len(), none.sweep.len()), (0, 0, 33));
}

#[test]
fn a_ring_of_three_shows_where_a_turn_takes_three_hops() {
    let found = harmonics(&team(), waves("release", 10), &rules(), &mut Scratch::default()).unwrap();
    let peaks: Vec<&SweepStep> = found.sweep.iter().filter(|step| step.resonant).collect();
    assert_eq!(peaks.len(), 1);
    near(peaks[0].frequency, 5.25);
    let valley = found.sweep.iter().map(|step| step.energy).take(20).fold(f32::INFINITY, f32::min);
    assert!(peaks[0].energy > 10.0 * valley, "{} over {valley}", peaks[0].energy);
}

#[test]
fn sympathetic_nodes_have_their_region() {
    let chain = chain(8);
    let found = resonant(&chain, waves("n0", 10), true);
    let sympathy = found.sympathetic.unwrap();
    let listed: Vec<(&str, bool)> =
        sympathy.hits.iter().map(|one| (one.swing.node.id.as_str(), one.cross_region)).collect();
    assert_eq!(listed, [("n4", true), ("n5", true), ("n3", false), ("n7", true), ("n6", true)]);
    near(f64::from(sympathy.hits[0].swing.amplitude), 1.847_759);
    assert_eq!((sympathy.left_out, sympathy.unreached), (0, 0));
    let few = resonant(&chain, HarmonicsRequest { top_k: 2, ..waves("n0", 5) }, true);
    let sympathy = few.sympathetic.unwrap();
    assert_eq!((sympathy.hits.len(), sympathy.left_out, sympathy.unreached), (2, 1, 2));
    let far = resonant(&team(), waves("retry-storm", 10), true).sympathetic.unwrap();
    let listed: Vec<(&str, bool)> =
        far.hits.iter().map(|one| (one.swing.node.id.as_str(), one.cross_region)).collect();
    assert_eq!(listed, [("Kestrel", true)]);
}

/// Two triangles, and an edge between n2 and n3.
fn triangles() -> View {
    let edges = [(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3), (2, 3)];
    view(6, &edges.map(|(a, b)| (a, b, 1.0)))
}

#[test]
fn example_4_7a_two_triangles_are_two_communities_and_an_edge_bridges_them() {
    let found = communities(&triangles(), &whole()).unwrap();
    near(found.modularity, 0.357_143);
    assert_eq!((found.count, found.alone, found.left_out, found.state.flags.len()), (2, 0, 0, 0));
    let sizes: Vec<(u32, usize)> = found.communities.iter().map(|of| (of.community, of.size)).collect();
    assert_eq!(sizes, [(0, 3), (1, 3)]);
    let listed: Vec<(&str, u32)> =
        found.hits.iter().map(|one| (one.node.id.as_str(), one.community)).collect();
    assert_eq!(listed, [("n2", 0), ("n1", 0), ("n0", 0), ("n3", 1), ("n4", 1), ("n5", 1)]);
    assert!(found.hits[0].score > found.hits[1].score, "the highest PageRank comes first");
    let bridges: Vec<(&str, f64, f64)> =
        found.bridges.iter().map(|one| (one.node.id.as_str(), one.inside, one.outside)).collect();
    assert_eq!(bridges, [("n2", 2.0, 1.0), ("n3", 2.0, 1.0)]);
    assert_eq!(found.bridges[0].ties.iter().map(|tie| tie.community).collect::<Vec<_>>(), [1]);
}

#[test]
fn a_request_for_a_node_returns_only_its_community() {
    let view = triangles();
    let of = |id: &str, members| {
        let node = Some(term(id));
        communities(&view, &CommunitiesRequest { node, members, ..whole() }).unwrap()
    };
    let found = of("n4", Some(2));
    let listed: Vec<&str> = found.hits.iter().map(|one| one.node.id.as_str()).collect();
    assert_eq!((listed, found.left_out, found.count), (vec!["n3", "n4"], 1, 2));
    assert_eq!((found.communities.len(), found.communities[0].community), (1, 1));
    assert_eq!(found.bridges.len(), 1);
    assert_eq!((found.bridges[0].node.id.as_str(), found.bridges[0].ties.len()), ("n4", 0));
    near(found.bridges[0].inside, 2.0);
    let nobody = of("nobody", None);
    assert_eq!(
        (nobody.state.unknown_seeds, nobody.hits.len(), nobody.bridges.len()),
        (vec!["nobody".to_owned()], 0, 0)
    );
    assert_eq!((nobody.communities.len(), nobody.left_out), (0, 0));
}

#[test]
fn omitted_community_members_are_counted() {
    let two = triangles();
    let few = communities(&two, &CommunitiesRequest { top_k: 1, members: Some(2), ..whole() }).unwrap();
    assert_eq!((few.communities.len(), few.hits.len(), few.left_out), (1, 2, 4));
    let all = communities(&two, &CommunitiesRequest { all: true, ..whole() }).unwrap();
    assert_eq!((all.communities.len(), all.hits.len(), all.left_out), (2, 6, 0));
    let fine = communities(&two, &CommunitiesRequest { resolution: 4.0, ..whole() }).unwrap();
    assert_eq!((fine.count, fine.alone), (6, 6));
    assert_eq!(two.communities().count, 2, "a result at another resolution does not replace it");
    let nothing = communities(&view(0, &[]), &whole()).unwrap();
    assert_eq!((nothing.count, nothing.hits.len(), nothing.modularity.to_bits()), (0, 0, 0));
}

#[test]
fn unknown_seeds_are_reported_and_activate_nothing() {
    let view = chain(3);
    let scratch = &mut Scratch::default();
    let found =
        xlr(&view, &XlrRequest { seeds: from("nobody"), top_k: 5, scope: None }, &rules(), scratch).unwrap();
    assert_eq!((found.hits.len(), found.state.flags.len()), (0, 0));
    assert_eq!(found.state.unknown_seeds, ["nobody"]);
    let found = resonant(&view, waves("nobody", 10), true);
    assert_eq!(found.hits.len(), 0);
    assert_eq!(found.state.unknown_seeds, ["nobody"]);
    assert_eq!(found.sympathetic.map(|far| (far.hits.len(), far.unreached)), Some((0, 3)));
    let found = harmonics(&view, waves("nobody", 10), &rules(), scratch).unwrap();
    assert_eq!((found.hits.len(), found.sweep.len(), found.waves.nodes_touched), (0, 33, 0));
    assert!(found.sweep.iter().all(|step| step.energy.to_bits() == 0 && !step.resonant));
}

#[test]
fn values_out_of_range_are_refused_by_name() {
    let (view, rules, scratch) = (chain(3), rules(), &mut Scratch::default());
    let usual = || waves("n0", 10);
    let mut refused = Vec::new();
    for (name, request) in [
        ("top_k", HarmonicsRequest { top_k: 0, ..usual() }),
        ("top_k", HarmonicsRequest { top_k: 1_001, ..usual() }),
        ("hops", HarmonicsRequest { hops: 0, ..usual() }),
        ("hops", HarmonicsRequest { hops: 11, ..usual() }),
        ("pulses", HarmonicsRequest { pulses: Some(0), ..usual() }),
        ("pulses", HarmonicsRequest { pulses: Some(PULSES_MAX + 1), ..usual() }),
        ("frequency", HarmonicsRequest { frequency: 0.0, ..usual() }),
        ("frequency", HarmonicsRequest { frequency: f32::NAN, ..usual() }),
        ("wavelength", HarmonicsRequest { wavelength: Some(f32::INFINITY), ..usual() }),
        ("wavelength", HarmonicsRequest { wavelength: Some(-1.0), ..usual() }),
        ("score of seed n0", HarmonicsRequest { seeds: scored("n0", 1.5), ..usual() }),
    ] {
        refused.push((name, resonate(&view, &request.clone().into(), &rules, scratch).map(drop)));
        refused.push((name, harmonics(&view, request, &rules, scratch).map(drop)));
    }
    for (name, request) in [
        ("top_k", CommunitiesRequest { top_k: 0, ..whole() }),
        ("members", CommunitiesRequest { members: Some(1_001), ..whole() }),
        ("resolution", CommunitiesRequest { resolution: 0.0, ..whole() }),
        ("resolution", CommunitiesRequest { resolution: f32::INFINITY, ..whole() }),
    ] {
        refused.push((name, communities(&view, &request).map(drop)));
    }
    for (name, seeds, top_k) in [("top_k", from("n0"), 0), ("score of seed n0", scored("n0", 0.0), 5)] {
        refused
            .push((name, xlr(&view, &XlrRequest { seeds, top_k, scope: None }, &rules, scratch).map(drop)));
    }
    for (name, answer) in refused {
        let Err(Error::Invalid(why)) = answer else { panic!("{name} is taken") };
        assert!(why.contains(name), "{why}");
    }
}
