// purpose: End a transaction of a run with its receipt: the number of the batch and what all batches did so far.
// mode: write
// params: $job: String, $occurrence: String, $batch: Integer, $scanned: Integer, $changed: Integer, $skipped: Integer, $quarantined: Integer, $adopted: Integer, $expired: Integer, $promoted: Integer, $conflicts: Integer, $cut: Integer, $formed: Integer, $joined: Integer, $left: Integer, $dissolved: Integer, $reinforced: Integer, $released: Integer, $trimmed: Integer, $pinned: Integer, $below: Integer, $silenced: Integer, $retracted: Integer, $reduced: Integer, $rehearsed: Integer
// returns: batch: Integer (one row)
// bound: one key
// idempotent: by the number of the batch
MATCH (r:EbbRun {job: $job, occurrence: $occurrence})
SET r.batch = $batch,
  r.scanned = coalesce(r.scanned, 0) + $scanned,
  r.changed = coalesce(r.changed, 0) + $changed,
  r.skipped = coalesce(r.skipped, 0) + $skipped,
  r.quarantined = coalesce(r.quarantined, 0) + $quarantined,
  r.adopted = coalesce(r.adopted, 0) + $adopted,
  r.expired = coalesce(r.expired, 0) + $expired,
  r.promoted = coalesce(r.promoted, 0) + $promoted,
  r.conflicts = coalesce(r.conflicts, 0) + $conflicts,
  r.cut = coalesce(r.cut, 0) + $cut,
  r.formed = coalesce(r.formed, 0) + $formed,
  r.joined = coalesce(r.joined, 0) + $joined,
  r.left = coalesce(r.left, 0) + $left,
  r.dissolved = coalesce(r.dissolved, 0) + $dissolved,
  r.reinforced = coalesce(r.reinforced, 0) + $reinforced,
  r.released = coalesce(r.released, 0) + $released,
  r.trimmed = coalesce(r.trimmed, 0) + $trimmed,
  r.pinned = coalesce(r.pinned, 0) + $pinned,
  r.below = coalesce(r.below, 0) + $below,
  r.silenced = coalesce(r.silenced, 0) + $silenced,
  r.retracted = coalesce(r.retracted, 0) + $retracted,
  r.reduced = coalesce(r.reduced, 0) + $reduced,
  r.rehearsed = coalesce(r.rehearsed, 0) + $rehearsed
RETURN r.batch AS batch
