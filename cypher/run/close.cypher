// purpose: End a run: its state is final, and it says what it did.
// mode: write
// params: $job: String, $occurrence: String, $fence: Integer, $holder: String, $state: String, $truncated: Boolean, $reason: String
// returns: scanned: Integer, changed: Integer, skipped: Integer, quarantined: Integer, adopted: Integer, expired: Integer, promoted: Integer, conflicts: Integer, cut: Integer, formed: Integer, joined: Integer, left: Integer, dissolved: Integer, reinforced: Integer, released: Integer, trimmed: Integer, pinned: Integer, below: Integer, silenced: Integer, retracted: Integer, reduced: Integer, rehearsed: Integer (one row; none if the run was lost)
// bound: one key
// idempotent: by the state and the fence
// law: domain::attempt::step
// clock: server
MATCH (r:EbbRun {job: $job, occurrence: $occurrence})
SET r.lock = true
WITH r
WHERE r.fence = $fence AND r.state IN ['open', $state] AND (r.holder = $holder OR r.state = $state)
SET r.state = $state, r.holder = null, r.leaseUntil = null, r.truncated = $truncated, r.reason = $reason,
  r.finished = coalesce(r.finished, datetime.realtime())
RETURN coalesce(r.scanned, 0) AS scanned, coalesce(r.changed, 0) AS changed, coalesce(r.skipped, 0) AS skipped,
  coalesce(r.quarantined, 0) AS quarantined, coalesce(r.adopted, 0) AS adopted, coalesce(r.expired, 0) AS expired,
  coalesce(r.promoted, 0) AS promoted, coalesce(r.conflicts, 0) AS conflicts,
  coalesce(r.cut, 0) AS cut, coalesce(r.formed, 0) AS formed, coalesce(r.joined, 0) AS joined, coalesce(r.left, 0) AS left,
  coalesce(r.dissolved, 0) AS dissolved, coalesce(r.reinforced, 0) AS reinforced, coalesce(r.released, 0) AS released,
  coalesce(r.trimmed, 0) AS trimmed, coalesce(r.pinned, 0) AS pinned, coalesce(r.below, 0) AS below,
  coalesce(r.silenced, 0) AS silenced,
  coalesce(r.retracted, 0) AS retracted, coalesce(r.reduced, 0) AS reduced, coalesce(r.rehearsed, 0) AS rehearsed
