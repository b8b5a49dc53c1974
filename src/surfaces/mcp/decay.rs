//! `decay_scope`, the tool of the decay document (section 15.5), and the token that confirms its writes.
//!
//! Name, description and schema are those of the document, word for word. Ebb adds a few sentences behind the description, and
//! `confirm`. A sweep that writes must send in `confirm` the token of a dry run of the same scope and policy, so that
//! the caller has seen its effects. So the token also accepts, for the guard, the number of facts that the dry run would have
//! retracted. It is a hash over a secret of the process, valid once, for [`VALID_FOR`]; a request that cannot be read does
//! not use it up.

use super::Tools;
use crate::surfaces::operation::argument;
use crate::surfaces::operation::problem::Problem;
use crate::surfaces::operation::tool::{Fields, Tool};
use ebb_core::api::fact::SweepRequest;
use ebb_core::domain::ids::{Scope, TERM_BYTES_MAX, Term, hex};
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

/// Description in the document, and what Ebb adds.
const DESCRIPTION: &str = "Apply configured decay policies to a Stigmem scope. Retracts or reduces confidence of \
    stale/aged facts per operator-defined DecayPolicy. Use mode='dry_run' to preview what would change without writing. \
    Complement to lint_scope — lint identifies decay candidates; decay_scope acts on them. \
    In Ebb: facts alone, since memories decay by themselves, and mode='dry_run' is the lint. To write, call with \
    mode='dry_run', review the answer, and send its confirm. A scope of more than 100,000 facts is swept later by a worker; \
    the answer then has a job_id.";

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
                "description": "Required unless mode is dry_run: confirm of the answer to a dry run of the same scope and \
                                policy_id. Valid once, for 5 minutes.",
            },
        },
        "required": ["scope"],
    });
    schema.as_object().cloned().unwrap_or_default()
}

/// Scope and policy of a sweep.
pub(super) type SweepKey = [String; 2];

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
    fn new_token(&self, sweep: &SweepKey, retracts: i64) -> String {
        self.token(sweep, self.since.elapsed(), retracts, &Uuid::new_v4().simple().to_string())
    }

    /// Computes the token of a dry run by its scope, policy, time of issue, number of facts to retract, and name.
    fn token(&self, sweep: &SweepKey, age: Duration, retracts: i64, name: &str) -> String {
        let seconds = age.as_secs();
        let signed = (&self.secret, sweep, seconds, retracts, name);
        format!("{seconds}.{retracts}.{name}.{}", hex(&Sha256::digest(format!("{signed:?}"))))
    }

    /// The number of facts that the token accepts, if it is valid for the scope and policy, has not expired and is
    /// unused. Marks it as used.
    fn redeem(&self, sweep: &SweepKey, token: &str, now: Duration) -> Option<i64> {
        let mut parts = token.splitn(4, '.');
        let seconds = parts.next()?.parse().ok()?;
        let retracts = parts.next()?.parse().ok()?;
        let (then, name) = (Duration::from_secs(seconds), parts.next()?);
        let is_fresh = now.checked_sub(then).is_some_and(|age| age <= VALID_FOR);
        let is_own = bool::from(self.token(sweep, then, retracts, name).as_bytes().ct_eq(token.as_bytes()));
        if !is_fresh || !is_own {
            return None;
        }
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        used.retain(|_, then| now.saturating_sub(*then) <= VALID_FOR);
        used.insert(token.to_owned(), then).is_none().then_some(retracts)
    }
}

impl Tools {
    /// Checks that a sweep may write, and adds the number that its token accepts. Returns the scope and policy of a dry
    /// run.
    pub(super) fn checked(
        &self,
        caller: &Caller,
        arguments: &mut Fields,
    ) -> Result<Option<SweepKey>, Problem> {
        let confirm = arguments.remove("confirm");
        let SweepRequest { scope, mode, policy_id, .. } = argument(arguments.clone())?;
        let policy = policy_id.as_ref().map(Term::as_str).unwrap_or_default();
        let sweep = [scope.name().to_owned(), policy.to_owned()];
        if mode == Some(Mode::DryRun) {
            return Ok(Some(sweep));
        }
        // The right to write is checked first.
        if let Ok(scope) = Scope::new(scope.name()) {
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
        let Some(retracts) = self.tokens.redeem(&sweep, token, self.tokens.since.elapsed()) else {
            return Err(Problem::validation(format!(
                "a sweep that writes needs in confirm the token of a dry run of the same scope and policy_id, not \
                 older than {} minutes and not used before: call with mode=dry_run first, and review the changes",
                VALID_FOR.as_secs() / 60
            )));
        };
        arguments.insert("accept_affected".to_owned(), retracts.into());
        Ok(None)
    }

    /// The token of a dry run with this answer.
    pub(super) fn confirmation(&self, sweep: &SweepKey, answer: &Value) -> String {
        self.tokens.new_token(sweep, answer["dry_run_would_retract"].as_i64().unwrap_or(0))
    }
}

/// The problem, with advice for callers of the tool instead of those of the API.
pub(super) fn advised(mut problem: Problem) -> Problem {
    if problem.advice.take().is_some() {
        problem.detail.push_str(
            ". It is more than the dry run of this token showed: call with mode=dry_run again, review the changes, and \
             send the new token",
        );
    }
    problem
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sweep(scope: &str, policy: &str) -> SweepKey {
        [scope.to_owned(), policy.to_owned()]
    }

    #[test]
    fn a_token_is_valid_for_its_own_scope_and_policy_and_a_while() {
        let (tokens, local) = (Tokens::default(), sweep("local", ""));
        let second = Duration::from_secs(1);
        let token = tokens.token(&local, second, 60, "a");
        for late in [2 * second + VALID_FOR, Duration::ZERO] {
            assert_eq!(tokens.redeem(&local, &token, late), None);
        }
        for other in [sweep("team", ""), sweep("local", "p")] {
            assert_eq!(tokens.redeem(&other, &token, second), None);
        }
        let more = token.replacen(".60.", ".61.", 1);
        assert_eq!(tokens.redeem(&local, &more, second), None, "the number is part of the token");
        assert_eq!(
            Tokens::default().redeem(&local, &token, second),
            None,
            "another process has another secret"
        );
        for none in
            ["", ".", "1.", "1.a", "1.0.a", "1.0.a.", "x.0.y.z", "-1.0.0.0", "99999999999999999999.0.a.b"]
        {
            assert_eq!(tokens.redeem(&local, none, second), None, "{none}");
        }
        let redeemed = tokens.redeem(&local, &token, second + VALID_FOR);
        assert_eq!(redeemed, Some(60), "refused attempts do not use a token up");
    }

    #[test]
    fn a_token_is_valid_once() {
        let (tokens, local) = (Tokens::default(), sweep("local", ""));
        let (one, other) = (tokens.new_token(&local, 1), tokens.new_token(&local, 1));
        assert_ne!(one, other, "each dry run has its own");
        let now = tokens.since.elapsed();
        assert_eq!((tokens.redeem(&local, &one, now), tokens.redeem(&local, &one, now)), (Some(1), None));
        assert_eq!(tokens.redeem(&local, &other, now), Some(1));
        let later = now + VALID_FOR + Duration::from_secs(1);
        assert_eq!(tokens.redeem(&local, &other, later), None);
        let third = tokens.token(&local, later, 0, "c");
        assert_eq!(tokens.redeem(&local, &third, later), Some(0));
        assert_eq!(tokens.used.lock().unwrap().len(), 1, "expired tokens are removed");
    }
}
