//! `ebb plot decay`: the lightest relations of a scope, or the curve of one.

use super::{Target, drawn, target, written};
use crate::surfaces::cli::exit::CliError;
use crate::surfaces::cli::instant::readable;
use crate::surfaces::cli::output::Output;
use crate::surfaces::cli::plot::decay::{Bar, DecayPlot, Outlook, curve};
use crate::surfaces::cli::plot::{Decay, Picture};
use crate::surfaces::cli::relation::Names;
use ebb_core::domain::relation::{Fading, RelationState};
use ebb_core::domain::units::{Timestamp, Weight};
use ebb_core::service::{Relation, RelationFilter, Service};
use serde::Serialize;

pub(super) async fn run(args: &Decay, service: &Service, output: &Output) -> Result<(), CliError> {
    let (Some(from), Some(kind), Some(to)) = (&args.from, &args.kind, &args.to) else {
        return weights(args, service, output).await;
    };
    let names = Names { from: from.clone(), kind: kind.clone(), to: to.clone() };
    let at = args.picture.when.instant(service).await?;
    let adopted = service.adopted_facts(service.scope(), at).await?;
    let adopted = adopted.into_iter().find(|fact| fact.from == *from && fact.kind == *kind && fact.to == *to);
    let found = match adopted {
        Some(fact) => fact,
        None => service.relation(&names.tie(service)?, at).await?,
    };
    weight(&found, &args.picture, at, service, output)
}

async fn weights(args: &Decay, service: &Service, output: &Output) -> Result<(), CliError> {
    let at = args.picture.when.instant(service).await?;
    let all = relations(service, at).await?;
    let limit = usize::from(args.limit);
    let plot = picture(&all, limit, service, at);
    match target(&args.picture, output) {
        Target::Svg(to) => written(&plot.svg(), to, output),
        Target::Numbers => {
            let edges: Vec<RelationWeight> =
                lightest(&all, limit).map(|relation| RelationWeight::of(relation, service)).collect();
            output.emit_list("plot.decay", "edges", &edges, |_| {})
        }
        Target::Terminal => drawn(&plot.terminal(output.width, output.color), output),
    }
}

fn weight(
    found: &Relation,
    picture: &Picture,
    at: Timestamp,
    service: &Service,
    output: &Output,
) -> Result<(), CliError> {
    let plot = curve(&name(found), &state(found), is_adopted(found), at, service.fading());
    match target(picture, output) {
        Target::Svg(to) => written(&plot.svg_of("weight"), to, output),
        Target::Numbers => {
            let points = plot.segments.iter().flat_map(|segment| {
                let ahead = segment.ahead;
                segment.points.iter().map(move |(at, weight)| WeightPoint { at: *at, weight: *weight, ahead })
            });
            let curve = WeightCurve { edge: RelationWeight::of(found, service), points: points.collect() };
            output.emit("plot.decay", &curve, |_| {})
        }
        Target::Terminal => drawn(&plot.terminal(output.width, output.color), output),
    }
}

/// All relations of the scope that laws can use, and live facts of other libraries, heaviest first.
pub(in crate::surfaces::cli) async fn relations(
    service: &Service,
    at: Timestamp,
) -> Result<Vec<Relation>, CliError> {
    let mut all = service.relations(service.scope(), RelationFilter::Retrievable, None, at).await?;
    all.extend(service.relations(service.scope(), RelationFilter::Decayed, None, at).await?);
    all.extend(service.adopted_facts(service.scope(), at).await?);
    // Those below the minimum are lighter than all others but the pinned.
    all.sort_by(|a, b| b.weight.total_cmp(&a.weight));
    Ok(all)
}

/// The relations of a picture, the lightest last. Pinned ones are left out: they do not fade.
fn lightest(all: &[Relation], limit: usize) -> impl Iterator<Item = &Relation> {
    let fade = |relation: &&Relation| !relation.pinned;
    let heavier = all.iter().filter(fade).count().saturating_sub(limit);
    all.iter().filter(fade).skip(heavier)
}

fn picture(all: &[Relation], limit: usize, service: &Service, at: Timestamp) -> DecayPlot {
    let fading = service.fading();
    let bar = |relation: &Relation| Bar {
        name: name(relation),
        weight: relation.weight,
        outlook: outlook(relation, at, fading),
    };
    let bars: Vec<Bar> = lightest(all, limit).map(bar).collect();
    let pinned = all.iter().filter(|relation| relation.pinned).count();
    let left_out = [(all.len() - pinned - bars.len(), "heavier"), (pinned, "pinned")];
    let left_out =
        left_out.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}"));
    let left_out: Vec<String> = left_out.collect();
    let remark =
        if left_out.is_empty() { String::new() } else { format!("Not drawn: {}.", left_out.join(", ")) };
    DecayPlot {
        title: format!("Weights of relations, lightest last, at {} UTC", readable(at)),
        bars,
        minimum: fading.minimum().value(),
        remark,
    }
}

fn outlook(relation: &Relation, at: Timestamp, fading: &Fading) -> Outlook {
    if is_adopted(relation) { Outlook::Stays } else { Outlook::of(&state(relation), at, fading) }
}

/// Facts of other libraries, which have no key of Ebb's, are reached at the minimum as long as they are live.
fn is_adopted(relation: &Relation) -> bool {
    relation.key.is_empty()
}

fn name(relation: &Relation) -> String {
    format!("{} {} {}", relation.from, relation.kind, relation.to)
}

/// The state that the law takes. A base outside `0 ..= 1`, which another writer may have left, is drawn at the
/// nearest end.
fn state(relation: &Relation) -> RelationState {
    let instant = |ms| Timestamp::from_millis(ms).unwrap_or(Timestamp::EPOCH);
    RelationState {
        base: Weight::new(relation.base.clamp(0.0, 1.0)).unwrap_or(Weight::ONE),
        weight_at: instant(relation.weight_at),
        last_observed: instant(relation.last_observed),
        pinned: relation.pinned,
    }
}

/// A relation, its weight, and when it falls below the minimum.
#[derive(Serialize)]
struct RelationWeight {
    #[serde(flatten)]
    names: Names,
    weight: f64,
    pinned: bool,
    falls: Option<Timestamp>,
}

impl RelationWeight {
    fn of(relation: &Relation, service: &Service) -> Self {
        let Relation { from, kind, to, weight, pinned, .. } = relation.clone();
        let falls = state(relation).falls(service.fading()).filter(|_| !is_adopted(relation));
        Self { names: Names { from, kind, to }, weight, pinned, falls }
    }
}

/// The curve of one relation.
#[derive(Serialize)]
struct WeightCurve {
    #[serde(flatten)]
    edge: RelationWeight,
    points: Vec<WeightPoint>,
}

#[derive(Serialize)]
struct WeightPoint {
    at: Timestamp,
    weight: f64,
    ahead: bool,
}
