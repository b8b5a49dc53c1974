//! The list `[[policies]]`, whose fields are those of the decay semantics document.
//!
//! What each field may be is in the table of knobs; what they must agree on is a law, so that a file, a variable and a
//! request are judged alike.

use super::fault::{Faults, Origin};
use super::kind::Shown;
use super::layers::Layer;
use super::{Environment, Flags, Settings};
use config::ConfigError;
use ebb_core::domain::policy::{Draft, Given, Policies};
use std::collections::BTreeMap;

/// What is wrong with one policy whose fields are sound alone.
pub(super) fn rule(fields: &BTreeMap<&'static str, Shown>) -> Vec<(String, String)> {
    let draft = Draft(fields.iter().map(|(name, value)| ((*name).to_owned(), given(value))).collect());
    let faults = Policies::check(&[draft]).err().unwrap_or_default();
    faults.into_iter().map(|fault| (fault.field, fault.what)).collect()
}

/// The policies of all layers.
pub(super) fn of(merged: &config::Config) -> Result<Policies, ConfigError> {
    let drafts: Vec<Draft> = match merged.get("policies") {
        Ok(drafts) => drafts,
        Err(ConfigError::NotFound(_)) => Vec::new(),
        Err(why) => return Err(why),
    };
    Policies::check(&drafts).map_err(|faults| {
        ConfigError::Message(faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))
    })
}

/// The policies of a TOML text, as they would stand in a configuration alone.
pub fn of_text(text: &str) -> Result<Policies, Faults> {
    let mut faults = Vec::new();
    let place = |line, column| Origin::File { path: "policies.toml".into(), line, column };
    let layer = Layer::of_toml(text, &place, &mut faults);
    let settings = Settings::from_layers(layer, &Flags::default(), &Environment::default(), faults)?;
    Ok(settings.policies)
}

fn given(shown: &Shown) -> Given {
    match shown {
        Shown::Switch(on) => Given::Truth(*on),
        #[expect(clippy::cast_precision_loss, reason = "no field of a policy is a whole number by its kind")]
        Shown::Whole(number) => Given::Number(*number as f64),
        Shown::Number(number) => Given::Number(*number),
        Shown::Text(text) => Given::Text(text.clone()),
        Shown::List(list) => Given::List(list.iter().map(given).collect()),
        Shown::Table(_) => Given::Table(BTreeMap::new()),
    }
}
