//! `ebb key`: the keys of the HTTP API.

use super::Global;
use super::confirm::confirm;
use super::exit::CliError;
use super::instant::{readable, span};
use super::output::Output;
use super::page::Column;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand};
use ebb_core::domain::ids::KeyName;
use ebb_core::domain::key::Right;
use ebb_core::domain::units::Timestamp;
use ebb_core::service::keys::KeyError;
use ebb_core::service::{KeyRow, Service};
use serde::Serialize;
use std::collections::BTreeMap;
use std::time::Duration;

/// The verbs of `ebb key`.
#[derive(Debug, Clone, Subcommand)]
#[command(after_help = "\
Without any key, everyone on this machine may use `ebb serve`. From the first key on every request needs one
(Authorization: Bearer KEY), also when all keys are revoked, expired or removed, until: ebb key open. A new or revoked
key takes effect within two seconds.

Examples:
  ebb key create --name agent-7 --right write --scope team
  ebb key create --name grafana --right read --scope '*'
  ebb key list
  ebb key revoke ID
  ebb key prune")]
pub enum Verb {
    /// Create a key; its secret is shown once
    Create(Create),
    /// List keys
    List,
    /// Revoke a key
    Revoke {
        /// Id of the key: the part between the underscores
        #[arg(value_name = "ID")]
        id: String,
    },
    /// Remove revoked and expired keys; the job audit does so after 90 days
    Prune {
        /// Only keys revoked or expired more than this many days ago
        #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u32).range(..=36_500))]
        days: u32,
    },
    /// Allow requests from this machine without a key again, once no key is left
    Open,
}

/// `ebb key create`
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  ebb key create --name agent-7 --right write --scope team --lasts 90d
  ebb key create --name operator --right admin --scope '*' -o json")]
pub struct Create {
    /// Name of the key
    #[arg(long, value_name = "NAME", value_parser = KeyName::new)]
    pub name: KeyName,
    /// Right: read; write, which also adds and changes memories, relations, trails and facts, and with the scope '*' runs jobs; or
    /// admin, which also forgets and merges memories, exports and deletes the whole scope, sets instants, and with '*' changes
    /// policies and cycles
    #[arg(long, value_name = "RIGHT", value_parser = right_parser())]
    pub right: Right,
    /// Scope it may use; may be repeated. '*' is every scope, and the routes about the database as a whole
    #[arg(long, value_name = "SCOPE", required = true)]
    pub scope: Vec<String>,
    /// Lifetime, such as 90d [default: until it is revoked]
    #[arg(long, value_name = "SPAN", value_parser = span)]
    pub lasts: Option<Duration>,
}

fn right_parser() -> impl TypedValueParser<Value = Right> {
    PossibleValuesParser::new(Right::ALL.map(Right::name))
        .try_map(|name| Right::named(&name).ok_or("not the name of a right"))
}

/// Runs a verb.
pub async fn run(verb: &Verb, service: &Service, output: &Output, global: &Global) -> Result<(), CliError> {
    match verb {
        Verb::Create(args) => create(args, service, output).await,
        Verb::List => list(service, output).await,
        Verb::Revoke { id } => revoke(id, service, output).await,
        Verb::Prune { days } => prune(*days, service, output).await,
        Verb::Open => open(service, output, global).await,
    }
}

/// A new key, with its secret.
#[derive(Serialize)]
struct KeySecret<'a> {
    id: &'a str,
    name: &'a str,
    secret: &'a str,
    #[serde(flatten)]
    permission: Permission,
    expires: Option<Timestamp>,
}

#[derive(Serialize)]
struct Permission {
    rights: &'static str,
    scopes: Vec<String>,
}

async fn create(args: &Create, service: &Service, output: &Output) -> Result<(), CliError> {
    let name = args.name.as_str();
    let made = service.create_key(name, args.right, &args.scope, args.lasts).await.map_err(failed)?;
    let permission = Permission { rights: made.grant.right.name(), scopes: made.grant.scope_names() };
    let created = KeySecret { id: &made.id, name, secret: &made.secret, permission, expires: made.expires };
    output.emit("key.create", &created, |page| {
        page.line(&made.secret);
        page.line("");
        page.line(&format!(
            "Shown once. Right: {}; scopes: {}. Send it as: Authorization: Bearer KEY",
            created.permission.rights,
            scopes(&created.permission.scopes)
        ));
        if let Some(at) = made.expires {
            page.line(&format!("It expires at {} (UTC)", readable(at)));
        }
        page.line(&format!("Revoke it with: ebb key revoke {}", made.id));
    })
}

fn failed(why: KeyError) -> CliError {
    match why {
        KeyError::Store(why) => why.into(),
        why @ KeyError::Random(_) => CliError::failed(why),
        why => CliError::usage(why),
    }
}

fn scopes(names: &[String]) -> String {
    match names {
        [all] if all == "*" => "every scope".to_owned(),
        names => names.join(", "),
    }
}

async fn list(service: &Service, output: &Output) -> Result<(), CliError> {
    let (keys, is_closed) = (service.keys().await?, service.store().live_keys().await?.closed);
    output.emit_list("key.list", "keys", &keys, |page| {
        if keys.is_empty() {
            page.line(if is_closed {
                "No keys, and every request still needs one. To serve this machine without keys: ebb key open"
            } else {
                "No keys: everyone on this machine may use `ebb serve`."
            });
            return;
        }
        let columns = [
            Column::left("ID"),
            Column::left("NAME"),
            Column::left("RIGHT"),
            Column::left("SCOPES"),
            Column::left("CREATED (UTC)"),
            Column::left("REVOKED (UTC)"),
            Column::left("EXPIRES (UTC)"),
        ];
        let or = |text: &Option<String>| text.clone().unwrap_or_else(|| "-".to_owned());
        let at = |at: Option<Timestamp>| at.map(readable);
        let revoked = |key: &KeyRow| match (key.is_revoked, key.revoked_at) {
            (false, _) => "-".to_owned(),
            (true, when) => at(when).unwrap_or_else(|| "yes".to_owned()),
        };
        let row = |key: &KeyRow| {
            let made = at(key.created).unwrap_or_else(|| "-".to_owned());
            let expires = at(key.expires).unwrap_or_else(|| "-".to_owned());
            let scopes = key.scopes.join(", ");
            [or(&key.id), or(&key.name), or(&key.rights), scopes, made, revoked(key), expires]
        };
        page.table(&columns, keys.iter().map(row));
    })
}

#[derive(Serialize)]
struct RevokeReport<'a> {
    id: &'a str,
    name: Option<String>,
    /// Whether it was in force until now.
    revoked: bool,
}

async fn revoke(id: &str, service: &Service, output: &Output) -> Result<(), CliError> {
    let (name, revoked) = service.revoke_key(id).await?;
    let answer = RevokeReport { id, name, revoked };
    output.emit("key.revoke", &answer, |page| {
        let name = answer.name.as_deref().unwrap_or("without a name");
        page.line(&if revoked {
            format!("Key {id} ({name}) is revoked, effective within two seconds.")
        } else {
            format!("Key {id} ({name}) was revoked already.")
        });
    })
}

async fn prune(days: u32, service: &Service, output: &Output) -> Result<(), CliError> {
    let pruned = service.prune_keys(days).await?;
    output.emit("key.prune", &BTreeMap::from([("pruned", pruned)]), |page| {
        page.line(&format!("Removed {pruned} revoked or expired keys."));
    })
}

async fn open(service: &Service, output: &Output, global: &Global) -> Result<(), CliError> {
    let question = "Everyone on this machine may then use `ebb serve` without a key. Allow it?";
    confirm(question, global.yes).await?;
    let opened = service.open_keys().await?;
    output.emit("key.open", &BTreeMap::from([("opened", opened)]), |page| {
        page.line(if opened {
            "No key is needed on this machine, effective within two seconds. Require one again with: ebb key create"
        } else {
            "Nothing changed: no key was needed on this machine."
        });
    })
}
