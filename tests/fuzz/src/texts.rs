//! Targets for public readers of texts: names, instants, policies, plans.

use ebb::surfaces::cli::instant::{Moment, span};
use ebb_core::api::plan::Plan;
use ebb_core::clock::{parse_lenient, parse_rfc3339, rfc3339};
use ebb_core::domain::ids::FactRelation;
use ebb_core::domain::policy::{Draft, Glob, Policies};
use ebb_core::domain::units::Timestamp;
use ebb_core::store::ChangeToken;

/// A pattern of relations and a text, separated by a line break.
pub(crate) fn glob(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let (pattern, text) = text.split_once('\n').unwrap_or((text, text));
    let glob = match Glob::new(pattern) {
        Ok(glob) => glob,
        Err(why) => return assert!(!why.to_string().is_empty()),
    };
    assert_eq!(glob.as_str(), pattern);
    assert_eq!(Glob::new(glob.as_str()), Ok(glob.clone()));
    assert!(glob.matches(pattern), "a pattern matches itself");
    assert_eq!(glob.matches(text), glob.matches_definition(text), "{pattern:?} {text:?}");
    assert!(FactRelation::new(pattern).is_ok());
}

/// Decay policies in JSON.
pub(crate) fn policies(bytes: &[u8]) {
    let Ok(drafts) = serde_json::from_slice::<Vec<Draft>>(bytes) else { return };
    let written = serde_json::to_vec(&drafts).expect("drafts");
    assert_eq!(serde_json::from_slice::<Vec<Draft>>(&written).expect("written drafts"), drafts);
    match Policies::check(&drafts) {
        Ok(policies) => {
            assert_eq!(policies.all().len(), drafts.len());
            let again: Vec<Draft> = policies.all().iter().map(Draft::from).collect();
            assert_eq!(Policies::check(&again), Ok(policies));
        }
        Err(faults) => {
            assert!(!faults.is_empty() && faults.iter().all(|fault| fault.index < drafts.len()));
        }
    }
}

/// A plan of a job in JSON.
pub(crate) fn plan(bytes: &[u8]) {
    let Ok(plan) = serde_json::from_slice::<Plan>(bytes) else { return };
    let written = serde_json::to_vec(&plan).expect("a plan");
    assert_eq!(serde_json::from_slice::<Plan>(&written).expect("a written plan"), plan);
}

/// Instants, spans and change tokens as people and programs write them.
pub(crate) fn instants(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Ok(at) = parse_rfc3339(text) {
        assert_eq!(parse_rfc3339(&rfc3339(at)), Ok(at));
        assert_eq!(parse_lenient(text), Some(at), "{text:?}");
    }
    if let Some(at) = parse_lenient(text) {
        assert_eq!(parse_rfc3339(&rfc3339(at)), Ok(at));
    }
    match text.parse::<Moment>() {
        Ok(Moment::At(at)) => assert_eq!(rfc3339(at).parse::<Moment>(), Ok(Moment::At(at))),
        Ok(moment @ Moment::FromNow(_)) => drop(moment.resolve(Timestamp::EPOCH)),
        Err(why) => assert!(!why.to_string().is_empty()),
    }
    assert!(span(text).is_ok_and(|span| !span.is_zero()) || span(text).is_err_and(|why| !why.is_empty()));
    if let Ok(token) = text.parse::<ChangeToken>() {
        assert_eq!(token.to_string().parse::<ChangeToken>().as_ref(), Ok(&token));
    }
}
