//! `decay_scope`, the tool of the decay document (section 15.5), and the token that confirms its writes.
//!
//! Name, description and schema are those of the document, word for word; `confirm` is Ebb's addition. A sweep that
//! writes must send in `confirm` the token of a dry run of the same scope and policy, so that the caller has seen its
//! effects. A token is a hash over a secret of the process; it is valid once, for [`VALID_FOR`].

use super::Tools;
use crate::surfaces::operation::problem::Problem;
use crate::surfaces::operation::tool::{Fields, Tool};
use ebb_core::domain::ids::{Scope, TERM_BYTES_MAX, hex};
use ebb_core::domain::key::Right;
use ebb_core::domain::policy::Mode;
use ebb_core::service::keys::Caller;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use subtle::ConstantTimeEq;
use uuid::Uuid;

/// The tool, with the texts of the document.
pub(in crate::surfaces) const TOOL: Tool = Tool {
    is_destructive: true,
    is_idempotent: true,
    needs_dry_run: true,
    schema: |schema| *schema = documented(),
    ..Tool::new("decay_scope", &["scope", "mode", "policy_id", "confirm"], DESCRIPTION)
};

/// Description in the document.
const DESCRIPTION: &str = "Apply configured decay policies to a Stigmem scope. Retracts or reduces confidence of \
    stale/aged facts per operator-defined DecayPolicy. Use mode='dry_run' to preview what would change without writing. \
    Complement to lint_scope — lint identifies decay candidates; decay_scope acts on them.";
/// How long the token of a dry run is valid.
const VALID_FOR: Duration = Duration::from_secs(5 * 60);

/// The document's schema with `confirm` added.
fn documented() -> Fields {
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
                "description": "Required for a run that writes: the confirm token that a dry run of the same scope and \
                                policy_id returned.",
            },
        },
        "required": ["scope"],
    });
    schema.as_object().cloned().unwrap_or_default()
}

/// The secret for the tokens of this process, and the used tokens.
pub(super) struct Tokens {
    secret: String,
    since: Instant,
    /// Used tokens by time of issue; expired ones are removed.
    used: Mutex<BTreeMap<String, Duration>>,
}

impl Default for Tokens {
    fn default() -> Self {
        let secret = format!("{}{}", Uuid::new_v4(), Uuid::new_v4());
        Self { secret, since: Instant::now(), used: Mutex::default() }
    }
}

impl Tokens {
    /// Issues a token for a dry run.
    fn new_token(&self, sweep: &[&str; 2]) -> String {
        self.token(sweep, self.since.elapsed(), &Uuid::new_v4().simple().to_string())
    }

    /// Computes the token of a dry run by its scope, policy, time of issue and name.
    fn token(&self, sweep: &[&str; 2], age: Duration, name: &str) -> String {
        let seconds = age.as_secs();
        let signed = (&self.secret, sweep, seconds, name);
        format!("{seconds}.{name}.{}", hex(&Sha256::digest(format!("{signed:?}"))))
    }

    /// Whether the token is valid for the scope and policy, has not expired and is unused. Marks it as used.
    fn redeem(&self, sweep: &[&str; 2], token: &str, now: Duration) -> bool {
        let mut parts = token.splitn(3, '.');
        let (Some(Ok(seconds)), Some(name)) = (parts.next().map(str::parse), parts.next()) else {
            return false;
        };
        let then = Duration::from_secs(seconds);
        let is_fresh = now.checked_sub(then).is_some_and(|age| age <= VALID_FOR);
        let is_own = bool::from(self.token(sweep, then, name).as_bytes().ct_eq(token.as_bytes()));
        if !is_fresh || !is_own {
            return false;
        }
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        used.retain(|_, then| now.saturating_sub(*then) <= VALID_FOR);
        used.insert(token.to_owned(), then).is_none()
    }
}

impl Tools {
    /// Checks that a sweep may write. For a dry run, returns the new token for its answer.
    pub(super) fn checked(&self, caller: &Caller, arguments: &mut Fields) -> Result<Option<String>, Problem> {
        let confirm = arguments.remove("confirm");
        let text = |name: &str| arguments.get(name).and_then(Value::as_str);
        let sweep = [text("scope").unwrap_or_default(), text("policy_id").unwrap_or_default()];
        if text("mode") == Some(Mode::DryRun.name()) {
            return Ok(Some(self.tokens.new_token(&sweep)));
        }
        // The right to write is checked first; an invalid scope is refused later, when the request is read.
        if let Ok(scope) = Scope::new(sweep[0]) {
            let usual = self.backend.service.scope();
            let allowed = caller.scope(Some(&scope), usual, Right::Write);
            allowed.map_err(|why| Problem::forbidden(why.to_string()))?;
        }
        if !self.allow_writes {
            return Err(Problem::forbidden(
                "only mode=dry_run is allowed here: mcp.allow_writes is not set in Ebb's configuration",
            ));
        }
        let token = confirm.as_ref().and_then(Value::as_str).unwrap_or_default();
        if self.tokens.redeem(&sweep, token, self.tokens.since.elapsed()) {
            return Ok(None);
        }
        Err(Problem::validation(format!(
            "a sweep that writes needs in confirm the token of a dry run of the same scope and policy_id, not older \
             than {} minutes and not used before: call with mode=dry_run first, and review the changes",
            VALID_FOR.as_secs() / 60
        )))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOCAL: [&str; 2] = ["local", ""];

    #[test]
    fn a_token_is_valid_for_its_own_scope_and_policy_and_a_while() {
        let (tokens, local) = (Tokens::default(), LOCAL);
        let second = Duration::from_secs(1);
        let token = tokens.token(&local, second, "a");
        for late in [2 * second + VALID_FOR, Duration::ZERO] {
            assert!(!tokens.redeem(&local, &token, late));
        }
        assert!(!tokens.redeem(&["team", ""], &token, second));
        assert!(!tokens.redeem(&["local", "p"], &token, second));
        assert!(!Tokens::default().redeem(&local, &token, second), "another process has another secret");
        for none in ["", ".", "1.", "1.a", "1.a.", "x.y.z", "-1.0.0", "99999999999999999999.a.b"] {
            assert!(!tokens.redeem(&local, none, second), "{none}");
        }
        assert!(tokens.redeem(&local, &token, second + VALID_FOR), "refused attempts do not use a token up");
    }

    #[test]
    fn a_token_is_valid_once() {
        let (tokens, local) = (Tokens::default(), LOCAL);
        let (one, other) = (tokens.new_token(&local), tokens.new_token(&local));
        assert_ne!(one, other, "each dry run has its own");
        let now = tokens.since.elapsed();
        assert!(tokens.redeem(&local, &one, now) && !tokens.redeem(&local, &one, now));
        assert!(tokens.redeem(&local, &other, now));
        let later = now + VALID_FOR + Duration::from_secs(1);
        assert!(!tokens.redeem(&local, &other, later));
        let third = tokens.token(&local, later, "c");
        assert!(tokens.redeem(&local, &third, later));
        assert_eq!(tokens.used.lock().unwrap().len(), 1, "expired tokens are removed");
    }
}
