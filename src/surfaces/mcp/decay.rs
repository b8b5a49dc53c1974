//! `decay_scope`, the tool of the decay document (section 15.5), and the token that lets it write.
//!
//! Name, description and schema are those of the document, word for word; `confirm` is ours. A sweep that writes wants in
//! it the token of a dry run of the same scope and policy, so that whoever acts has seen what would be done. A token says
//! nothing but that: it is a hash over a secret that lives as long as the process, and is good once, for [`GOOD_FOR`].

use super::Fault;
use super::tool::{Call, to_json};
use ebb_core::api::fact::{Sweep, SweepAnswer, SweepRequest};
use ebb_core::domain::fact::FactScope;
use ebb_core::domain::ids::{Scope, TERM_BYTES_MAX, Term, hex};
use ebb_core::domain::key::Right;
use ebb_core::domain::policy::Mode;
use ebb_core::service::memories::WriteMode;
use rmcp::model::JsonObject;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use subtle::ConstantTimeEq;
use uuid::Uuid;

/// The document's words.
pub(super) const DESCRIPTION: &str = "Apply configured decay policies to a Stigmem scope. Retracts or reduces confidence of \
    stale/aged facts per operator-defined DecayPolicy. Use mode='dry_run' to preview what would change without writing. \
    Complement to lint_scope — lint identifies decay candidates; decay_scope acts on them.";
/// How long a dry run counts as seen.
const GOOD_FOR: Duration = Duration::from_secs(5 * 60);

/// The document's schema, and `confirm`.
pub(super) fn schema() -> JsonObject {
    let schema = json!({
        "type": "object",
        "properties": {
            "scope": {
                "type": "string",
                "enum": ["local", "team", "company", "public"],
                "description": "The fact scope to sweep.",
            },
            "mode": {
                "type": "string",
                "enum": ["retract", "confidence", "dry_run"],
                "description": "Optional. Override decay mode for this run. Omit to use configured policy modes.",
            },
            "policy_id": {
                "type": "string",
                "description": "Optional. Run only the named decay policy.",
            },
            "confirm": {
                "type": "string",
                "maxLength": TERM_BYTES_MAX,
                "description": "For a run that writes: the confirm token that a dry run of the same scope and policy_id \
                                answered.",
            },
        },
        "required": ["scope"],
    });
    schema.as_object().cloned().unwrap_or_default()
}

/// What is asked.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DecayScopeRequest {
    scope: FactScope,
    mode: Option<Mode>,
    policy_id: Option<Term>,
    confirm: Option<Term>,
}

/// The secret of the tokens of this process, and those that were used.
pub(super) struct Tokens {
    secret: String,
    since: Instant,
    /// Each with when it was given; one that is too old is forgotten.
    used: Mutex<BTreeMap<String, Duration>>,
}

impl Default for Tokens {
    fn default() -> Self {
        let secret = format!("{}{}", Uuid::new_v4(), Uuid::new_v4());
        Self { secret, since: Instant::now(), used: Mutex::default() }
    }
}

impl Tokens {
    /// Of a dry run that is done now.
    fn of(&self, asked: &DecayScopeRequest) -> String {
        self.at(asked, self.since.elapsed(), &Uuid::new_v4().simple().to_string())
    }

    /// Of the dry run of this name.
    fn at(&self, asked: &DecayScopeRequest, age: Duration, name: &str) -> String {
        let seconds = age.as_secs();
        let said = (&self.secret, asked.scope.name(), &asked.policy_id, seconds, name);
        format!("{seconds}.{name}.{}", hex(&Sha256::digest(format!("{said:?}"))))
    }

    /// Whether it is that of a dry run of the same, not too long ago, and was not used. It is from now on.
    fn takes(&self, asked: &DecayScopeRequest, token: &str, now: Duration) -> bool {
        let mut parts = token.splitn(3, '.');
        let (Some(Ok(seconds)), Some(name)) = (parts.next().map(str::parse), parts.next()) else {
            return false;
        };
        let then = Duration::from_secs(seconds);
        let is_fresh = now.checked_sub(then).is_some_and(|age| age <= GOOD_FOR);
        let is_own = bool::from(self.at(asked, then, name).as_bytes().ct_eq(token.as_bytes()));
        if !is_fresh || !is_own {
            return false;
        }
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        used.retain(|_, then| now.saturating_sub(*then) <= GOOD_FOR);
        used.insert(token.to_owned(), then).is_none()
    }
}

/// A dry run's answer, with the token that lets the same be done.
#[derive(Serialize)]
struct DryRunResponse {
    #[serde(flatten)]
    answer: SweepAnswer,
    confirm: String,
}

pub(super) async fn call(call: Call, asked: DecayScopeRequest) -> Result<Value, Fault> {
    let is_dry = asked.mode == Some(Mode::DryRun);
    let right = if is_dry { Right::Read } else { Right::Write };
    let scope = Scope::new(asked.scope.name()).map_err(|why| Fault(why.to_string()))?;
    call.scope(Some(&scope), right)?;
    let tools = &call.tools;
    if !is_dry {
        if !tools.allow_writes {
            let why = "only mode=dry_run is allowed here: mcp.allow_writes is not set in Ebb's configuration";
            return Err(Fault(why.to_owned()));
        }
        let token = asked.confirm.as_ref().map(Term::as_str).unwrap_or_default();
        if !tools.tokens.takes(&asked, token, tools.tokens.since.elapsed()) {
            return Err(Fault(format!(
                "a sweep that writes wants in confirm the token of a dry run of the same scope and policy_id, not older \
                 than {} minutes and not used before: call with mode=dry_run first, and look at what it would change",
                GOOD_FOR.as_secs() / 60
            )));
        }
    }
    let request = SweepRequest {
        scope: asked.scope,
        mode: asked.mode,
        policy_id: asked.policy_id.clone(),
        accept_affected: None,
        at: None,
    };
    let mode = WriteMode::Once(call.caller.request(None));
    match call.service().sweep(&mode, &request, Some(tools.stop.clone())).await? {
        Sweep::Done(answer) if is_dry => to_json(DryRunResponse { answer, confirm: tools.tokens.of(&asked) }),
        sweep => to_json(sweep),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(scope: FactScope, policy: Option<&str>) -> DecayScopeRequest {
        DecayScopeRequest {
            scope,
            mode: None,
            policy_id: policy.map(|id| Term::try_from(id.to_owned()).unwrap()),
            confirm: None,
        }
    }

    #[test]
    fn a_token_is_good_for_its_own_scope_and_policy_and_a_while() {
        let (tokens, local) = (Tokens::default(), asked(FactScope::Local, None));
        let second = Duration::from_secs(1);
        let token = tokens.at(&local, second, "a");
        for late in [2 * second + GOOD_FOR, Duration::ZERO] {
            assert!(!tokens.takes(&local, &token, late));
        }
        assert!(!tokens.takes(&asked(FactScope::Team, None), &token, second));
        assert!(!tokens.takes(&asked(FactScope::Local, Some("p")), &token, second));
        assert!(!Tokens::default().takes(&local, &token, second), "another process has another secret");
        for none in ["", ".", "1.", "1.a", "1.a.", "x.y.z", "-1.0.0", "99999999999999999999.a.b"] {
            assert!(!tokens.takes(&local, none, second), "{none}");
        }
        assert!(tokens.takes(&local, &token, second + GOOD_FOR), "what was refused used nothing up");
    }

    #[test]
    fn a_token_is_good_once() {
        let (tokens, local) = (Tokens::default(), asked(FactScope::Local, None));
        let (one, other) = (tokens.of(&local), tokens.of(&local));
        assert_ne!(one, other, "each dry run has its own");
        let now = tokens.since.elapsed();
        assert!(tokens.takes(&local, &one, now) && !tokens.takes(&local, &one, now));
        assert!(tokens.takes(&local, &other, now));
        let later = now + GOOD_FOR + Duration::from_secs(1);
        assert!(!tokens.takes(&local, &other, later));
        let third = tokens.at(&local, later, "c");
        assert!(tokens.takes(&local, &third, later));
        assert_eq!(tokens.used.lock().unwrap().len(), 1, "those too old to count are forgotten");
    }
}
