"""Requests and answers of the HTTP API.

Generated from the OpenAPI document of Ebb by generate.py: do not edit.
"""

from __future__ import annotations

from datetime import date
from typing import Any, Literal

from pydantic import AwareDatetime, ConfigDict, Field

from ebb_memory.model import Model


class Access(Model):
    """An access of a batch."""

    model_config = ConfigDict(
        extra="forbid",
        use_attribute_docstrings=True,
    )
    at: AwareDatetime | None = None
    """Instant of the write; needs the right admin."""
    id: str
    """Id of the memory."""
    instance: str | None = None
    """Agent instance that accesses it; accepted and not kept."""
    revive: bool | None = None
    """Whether to revive an expired memory; default true."""
    scope: str | None = None
    """Scope of the data."""
    session: str | None = None
    """Session of the access."""


class AroundEdge(Model):
    """A relationship of a neighbourhood."""

    model_config = ConfigDict(
        use_attribute_docstrings=True,
    )
    from_: str = Field(..., alias="from")
    """Id of the node at its start."""
    to: str
    """Id of the node at its end."""
    type: str
    """Type of the relationship."""
    weight: float
    """Weight of the relationship."""


class AroundNode(Model):
    """A node of a neighbourhood."""

    model_config = ConfigDict(
        use_attribute_docstrings=True,
    )
    created: AwareDatetime | None
    """Instant of the creation of a memory."""
    energy: float | None
    """Energy of a memory at the requested instant; null before its last access or change, where it is not known."""
    hops: int
    """Number of relationships between it and the nearest of the requested nodes."""
    id: str
    """Id; for an entity its name."""
    kind: str
    """Label of the node in the graph."""
    label: str
    """Display text."""
    pinned: bool
    """Whether it is a pinned memory."""
    tier: Literal["working", "shortTerm", "longTerm", "expiredWorking", "archivedWorking", "archivedShortTerm"] | str | None
    """Tier of a memory."""


class AssertedFact(Model):
    """A fact that was asserted."""

    model_config = ConfigDict(
        use_attribute_docstrings=True,
    )
    asserted_at: AwareDatetime
    """Instant of the assertion."""
    confidence: float
    """Confidence, 0 to 1."""
    dry_run: bool
    """Whether this was a dry run: nothing was written."""
    entity: str
    """Entity that the fact is about."""
    head: bool
    """Whether it is the head: the fact of its tuple that counts."""
    id: str
    """Its id."""
    relation: str
    """Relation of the fact, such as roadmap:status."""
    scope: Literal["local", "team", "company", "public"] | str
    """Scope of the fact."""
    source: str
    """Source of the fact."""
    valid_until: AwareDatetime | None
    """Last instant at which the fact is valid."""
    value: str | float | bool
    """Value of the fact."""


class AssertedFactWithChange(AssertedFact):
    """A fact that was asserted."""

    model_config = ConfigDict(
        use_attribute_docstrings=True,
    )
    change: str | None = None
    """The change that the write made, if it made one: at_least of a recall that must include it."""


class Assertion(Model):
    """A fact to assert."""

    model_config = ConfigDict(
        extra="forbid",
        use_attribute_docstrings=True,
    )
    at: AwareDatetime | None = None
    """Instant of the write; needs the right admin."""
    confidence: float | None = None
    """Confidence, 0 to 1; default 1."""
    entity: str
    """Entity that the fact is about."""
    relation: str
    """Relation of the fact, such as roadmap:status."""
    scope: Literal["local", "team", "company", "public"] | None = None
    """Scope of the fact: local, team, company or public; default the only scope of the key, otherwise local."""
    source: str
    """Source of the fact."""
    valid_until: AwareDatetime | None = None
    """Last instant at which the fact is valid."""
    value: str | float | bool
    """Value of the fact."""


class Attempt(Model):
    """A consolidation attempt: its holder, and the memories it claims for promotion."""

    model_config = ConfigDict(
        use_attribute_docstrings=True,
    )
    applied: int
    """Memories promoted."""
    claimed: int
    """Memories claimed."""
    conflicts: int
    """Memories lost to another attempt."""
    holder: str | None
    """Holder of the attempt."""
    holds: int
    """Memories held now."""
    id: str
    """Id of the attempt."""
    instance: str | None
    """Program that created it."""
    lease_left_ms: int | None
    """Rest of its lease, milliseconds; negative after its end."""
    phase: str | None
    """Kind of work."""
    started: AwareDatetime | None
    """Start of the attempt."""
    state: str
    """State of the attempt: planned, claimed, done, aborted or expired."""


class Attempts(Model):
    """The attempts."""

    model_config = ConfigDict(
        use_attribute_docstrings=True,
    )
    attempts: list[Attempt]


class CausalStep(Model):
    """A relationship of a causal chain."""

    model_config = ConfigDict(
        use_attribute_docstrings=True,
    )
    strength: float
    """Causal strength, 0 to 1."""
    type: str
    """Type of the relationship."""


class ChangedPolicy(Model):
    """A policy that was set."""

    model_config = ConfigDict(
        use_attribute_docstrings=True,
    )
    dry_run: bool
    """Whether this was a dry run: nothing was written."""
    exempt_relations: list[str]
    """Relations exempt from the policy."""
    half_life_s: float | None = None
    """Half-life of confidence, seconds."""
    id: str
    """Its id."""
    min_confidence: float
    """Minimum confidence."""
    mode: str
    """Mode: retract, confidence or dry_run."""
    new: bool
    """Whether the policy is new."""
    relation: str
    """Pattern of relations; * matches any characters."""
    scope: str
    """Scope, or * for every scope."""
    ttl_s: float | None = None
    """Age beyond which facts are retracted, seconds."""


class ChangedPolicyWithChange(ChangedPolicy):
    """A policy that was set."""

    model_config = ConfigDict(
        use_attribute_docstrings=True,
    )
    change: str | None = None
    """The change that the write made, if it made one: at_least of a recall that must include it."""


class CommunitiesHit(Model):
    """A node with its community."""

    model_config = ConfigDict(
        use_attribute_docstrings=True,
    )
    community: int
    """Number of its community."""
    id: str
    """Id; for an entity its name."""
    kind: str
    """Label of the node in the graph."""
    label: str
    """Display text."""
    score: float
    """PageRank in the whole graph."""


class Community(Model):
    """A community."""

    model_config = ConfigDict(
        use_attribute_docstrings=True,
    )
    community: int
    """Number of the community; 0 is the largest."""
    size: int
    """Number of nodes."""


class CommunityTie(Model):
    """Link between a node and a community."""

    model_config = ConfigDict(
        use_attribute_docstrings=True,
    )
    community: int
    """Number of the community."""
    weight: float
    """Sum of the weights of the relationships."""


class Contrast(Model):
    """Contrast of a hit."""

    model_config = ConfigDict(
        use_attribute_docstrings=True,
    )
    cold: float
    """Field of the wave from other regions of the graph."""
    density: float
    """Degree relative to the mean, 0.3 to 2."""
    gate: float
    """Factor of its structural score in gate mode, 0 to 1."""
    hot: float
    """Field of the wave from the seeds."""
    immune: bool
    """Whether the node is too near a seed to be suppressed."""
    net: float
    """Hot field less suppression, over the greatest hot field or 1; below 0 where suppression is larger."""
    overlap: float
    """Agreement of the two waves in frequency and phase, 0 to 1."""


class Crossing(Model):
    """A future crossing of a threshold."""

    model_config = ConfigDict(
        use_attribute_docstrings=True,
    )
    at: AwareDatetime
    """Instant of the crossing."""
    name: str
    """Name: promotion or expiry."""
    threshold: float
    """Energy of the threshold."""


class DecayPolicy(Model):
    """A decay policy."""

    model_config = ConfigDict(
        use_attribute_docstrings=True,
    )
    exempt_relations: list[str]
    """Relations exempt from the policy."""
    half_life_s: float | None = None
    """Half-life of confidence, seconds."""
    id: str
    """Its id."""
    min_confidence: float
    """Minimum confidence."""
    mode: str
    """Mode: retract, confidence or dry_run."""
    relation: str
    """Pattern of relations; * matches any characters."""
    scope: str
    """Scope, or * for every scope."""
    ttl_s: float | None = None
    """Age beyond which facts are retracted, seconds."""


class Dimensions(Model):
    """Scores of a hit by dimension of evidence, 0 to 1."""

    model_config = ConfigDict(
        use_attribute_docstrings=True,
    )
    causal: float
    """Causal chains from the seeds to it, or from it to them."""
    semantic: float
    """Similarity of its label or its context to the query."""
    structural: float
    """Connection to the seeds."""
    temporal: float
    """Freshness, weighted by relevance, or change together with the seeds."""


class Duplicate(Model):
    """A memory that says the same as another one."""

    model_config = ConfigDict(
        use_attribute_docstrings=True,
    )
    content: str
    """Its text, at most 4 KiB of it."""
    id: str
    """Id of the memory."""
    similarity: float
    """Share of the words and pairs of adjacent words of either text that both have."""


class Duplicate2(Model):
    """A hit with the text of another."""

    model_config = ConfigDict(
        use_attribute_docstrings=True,
    )
    created: AwareDatetime | None
    """Instant of its creation, if known."""
    id: str
    """Its id."""


class Edge(Model):
    """A relation at an instant, with the documented field names."""

    model_config = ConfigDict(
        use_attribute_docstrings=True,
    )
    from_: str = Field(..., alias="from")
    """Source entity."""
    last_observed: date = Field(..., alias="lastObserved")
    """Instant of the last observation."""
    pinned: bool
    """Whether it is pinned: it does not decay."""
    to: str
    """Target entity."""
    type: str
    """Type of the relation."""
    weight: float
    """Current weight, 0 to 1."""


class EnergyLevel(Model):
    """An energy with a name: `promotion` or `expiry`."""

    model_config = ConfigDict(
        use_attribute_docstrings=True,
    )
    energy: float
    """The energy."""
    name: str
    """Its name."""


class EnergyPoint(Model):
    """An energy at an instant."""

    model_config = ConfigDict(
        use_attribute_docstrings=True,
    )
    at: AwareDatetime
    """The instant."""
    energy: float
    """The energy."""


class EngineHit(Model):
    """A node with its score."""

    model_config = ConfigDict(
        use_attribute_docstrings=True,
    )
    id: str
    """Id; for an entity its name."""
    kind: str
    """Label of the node in the graph."""
    label: str
    """Display text."""
    score: float
    """Activation, or PageRank."""


class Evaporated(Model):
    """Response to an evaporation."""

    model_config = ConfigDict(
        use_attribute_docstrings=True,
    )
    adopted: int
    """Places and edges of other writers adopted."""
    at: AwareDatetime
    """Instant of the write."""
    changed: int
    """Places and edges evaporated up to the cycle."""
    cycle: int
    """Current cycle."""
    dry_run: bool
    """Whether this was a dry run: nothing was written."""
    quarantined: int
    """Places and edges quarantined."""
    scanned: int
    """Places and edges scanned."""
    silenced: int
    """Places and edges whose pheromones all reached 0."""
    truncated: bool
    """Whether it ended before all were evaporated, or counted."""


class EvaporatedWithChange(Evaporated):
    """Response to an evaporation."""

    model_config = ConfigDict(
        use_attribute_docstrings=True,
    )
    change: str | None = None
    """The change that the write made, if it made one: at_least of a recall that must include it."""


class Event(Model):
    """An event in the history of a memory."""

    model_config = ConfigDict(
        use_attribute_docstrings=True,
    )
    at: AwareDatetime
    """Instant of the event."""
    count: int | None = None
    """Number of accesses in the session."""
    energy: float | None
    """Energy at the event, if recorded."""
    session: str | None = None
    """Session of the event."""
    what: str
    """Kind of event."""


class Expiry(Model):
    """How a memory expired."""

    model_config = ConfigDict(
        use_attribute_docstrings=True,
    )
    crossed_at: AwareDatetime | None
    """Instant at which its energy fell below the threshold; null if it is not known."""
    energy_then: float | None
    """Energy after the last access; null if the recorded accesses do not explain its energy."""
    expired_at: AwareDatetime | None
    """Instant of the pass that marked it as expired."""
    half_life_hours: float | None
    """Half-life of its energy, hours."""
    last_accessed: AwareDatetime
    """Instant of the last access."""
    threshold: float
    """The threshold, memory.expiryThreshold."""


class Fact(Model):
    """A fact. A field that another writer omitted or wrote with a wrong type is null."""

    model_config = ConfigDict(
        use_attribute_docstrings=True,
    )
    asserted_at: AwareDatetime | None
    """Instant of the assertion."""
    confidence: float | None
    """Confidence, 0 to 1."""
    entity: str | None
    """Entity that the fact is about."""
    head: bool
    """Whether it is the head: the fact of its tuple that counts."""
    id: str
    """Its id."""
    origin_at: AwareDatetime | None = None
    """Instant of the original fact, if a sweep wrote this one."""
    origin_confidence: float | None = None
    """Confidence of the original fact, if a sweep wrote this one."""
    relation: str | None
    """Relation of the fact, such as roadmap:status."""
    scope: str | None
    """Scope of the fact."""
    source: str | None
    """Source of the fact."""
    valid_until: AwareDatetime | None
    """Last instant at which the fact is valid."""
    value: str | float | bool | None
    """Value of the fact."""


class Facts(Model):
    """A page of facts."""

    model_config = ConfigDict(
        use_attribute_docstrings=True,
    )
    facts: list[Fact]


class FactsWithCursor(Facts):
    """A page of facts."""

    model_config = ConfigDict(
        use_attribute_docstrings=True,
    )
    cursor: str | None = None
    """Cursor of the next page; none if this is the last."""


class ForeignRows(Model):
    """Rows that share a label with Ebb's and do not have its shape: they belong to another library and are never changed."""

    model_config = ConfigDict(
        use_attribute_docstrings=True,
    )
    facts: int
    """Nodes with the label Fact, at the last pass."""
    memories: int
    """Nodes with the label Memory, at the last pass."""


class Forgotten(Model):
    """Response to the deletion of memories."""

    model_config = ConfigDict(
        use_attribute_docstrings=True,
    )
    forgotten: list[str]
    """Ids of the deleted memories."""
    nodes: int
    """Number of deleted nodes: the memory and its stubs."""


class ForgottenMemories(Model):
    """Response to a deletion by conditions."""

    model_config = ConfigDict(
        use_attribute_docstrings=True,
    )
    dry_run: bool
    """Whether this was a dry run: nothing was written."""
    left: int
    """Number of memories that fulfil the conditions and are left: repeat the request with another key to delete them."""
    memories: int
    """Number of memories that were deleted, at most 1000."""
    nodes: int
    """Number of deleted nodes: memories and their stubs."""


class ForgottenMemoriesWithChange(ForgottenMemories):
    """Response to a deletion by conditions."""

    model_config = ConfigDict(
        use_attribute_docstrings=True,
    )
    change: str | None = None
    """The change that the write made, if it made one: at_least of a recall that must include it."""


class ForgottenWithChange(Forgotten):
    """Response to the deletion of memories."""

    model_config = ConfigDict(
        use_attribute_docstrings=True,
    )
    change: str | None = None
    """The change that the write made, if it made one: at_least of a recall that must include it."""


class GivenSeed(Model):
    """A seed given by the caller."""

    model_config = ConfigDict(
        extra="forbid",
        use_attribute_docstrings=True,
    )
    id: str
    """Id; for an entity its name."""
    score: float
    """Score of the seed, above 0 and up to 1."""


class Group(Model):
    """A memory and its duplicates."""

    model_config = ConfigDict(
        use_attribute_docstrings=True,
    )
    content: str
    """Its text, at most 4 KiB of it."""
    count: int
    """How many they are."""
    duplicates: list[Duplicate]
    """The others in the same order, at most 50."""
    keep: str
    """The memory to keep: a pinned one, else the one with the highest tier, else with the most energy."""


class GuardedRecall(Model):
    """A result of the recall guard."""

    model_config = ConfigDict(
        use_attribute_docstrings=True,
    )
    age_ms: int
    """Milliseconds since it asked them, by the database's clock."""
    baseline: float
    """The same in the baseline."""
    lost_questions: int
    """Questions that lost memories."""
    max_loss: float
    """Loss above which it warns."""
    process: str
    """Process that asked the questions."""
    questions: int
    """Questions that were compared."""
    recall: float
    """Mean recall among the first 10 hits."""


class Harmonic(Model):
    """A multiple of the base frequency."""

    model_config = ConfigDict(
        use_attribute_docstrings=True,
    )
    energy: float
    """Sum of the squared amplitudes of all nodes."""
    frequency: float
    """Frequency of the harmonic."""
    harmonic: int
    """Number of the harmonic, from 1."""
    nodes: int
    """Number of nodes whose greatest amplitude is at this harmonic, the lowest of equal ones."""


class HarmonicsHit(Model):
    """Response of a node to the harmonics."""

    model_config = ConfigDict(
        use_attribute_docstrings=True,
    )
    amplitudes: list[float]
    """Amplitude at each harmonic."""
    harmonic: int
    """Harmonic with its greatest amplitude."""
    id: str
    """Id; for an entity its name."""
    kind: str
    """Label of the node in the graph."""
    label: str
    """Display text."""
    score: float
    """Amplitude at its harmonic."""


class HiddenRow(Model):
    """A hidden row."""

    model_config = ConfigDict(
        use_attribute_docstrings=True,
    )
    key: str
    """Key, as its library has it."""
    kind: Literal["node", "fact"] | str
    """Kind of the row."""


class JobRun(Model):
    """A manual run, or a dry run, which has neither occurrence nor id."""

    model_config = ConfigDict(
        use_attribute_docstrings=True,
    )
    adopted: int
    """Rows of other writers that were adopted."""
    affected: int
    """Memories expired, promoted or reinforced, clusters formed or dissolved, and facts retracted."""
    at: AwareDatetime
    """Instant that the run used as now."""
    changed: int
    """Rows written."""
    conflicts: int
    """Memories claimed by two attempts."""
    dry_run: bool
    """Whether this was a dry run: nothing was written."""
    due_left: int
    """Rows that remain due for the next run; 0 of a dry run."""
    expired: int
    """Memories that expired."""
    job: Literal["audit", "decay", "coactivate", "cluster", "embed", "reinforce", "promote", "evaporate", "fade", "sweep", "learn"] | str
    """Its name."""
    occurrence: str | None
    """Occurrence of the run."""
    outcome: str
    """Outcome: done or skipped."""
    promoted: int
    """Memories promoted."""
    quarantined: int
    """Rows quarantined."""
    reason: str | None = None
    """Reason for a skip, a failure or an early end; of a dry run, why a run would be stopped."""
    run_id: str | None
    """The id of its run."""
    scanned: int
    """Rows scanned."""
    skipped: int
    """Rows skipped."""
    truncated: bool
    """Whether the run stopped before all due work was done; of a dry run, whether more may be due than it counted."""


class JobRunWithChange(JobRun):
    """A manual run, or a dry run, which has neither occurrence nor id."""

    model_config = ConfigDict(
        use_attribute_docstrings=True,
    )
    change: str | None = None
    """The change that the write made, if it made one: at_least of a recall that must include it."""


class LastRun(Model):
    """The last run of a job."""

    model_config = ConfigDict(
        use_attribute_docstrings=True,
    )
    finished: AwareDatetime | None
    """Instant of the end."""
    occurrence: str
    """Occurrence of the run."""
    reason: str | None
    """Reason for a failure or an early end."""
    started: AwareDatetime | None
    """Instant of the start."""
    state: str
    """State: open, done, guarded or failed."""
    trigger: str
    """Trigger: schedule or manual."""


class Mirror(Model):
    """Mirror of a scope in memory."""

    model_config = ConfigDict(
        use_attribute_docstrings=True,
    )
    as_of: AwareDatetime | None
    """Instant up to which changes of the graph are included."""
    bytes: int | None
    """Size in bytes."""
    generation: int | None
    """Generation of the mirror."""
    held_share: float | None
    """Share of the eligible nodes that are in memory, 0 to 1."""
    learned: int | None
    """Number of relationships with learned weights, each direction counted."""
    learned_saves_skipped: int
    """Number of times that learned weights were not saved because saving their graph failed."""
    loaded: bool
    """Whether the mirror is loaded."""
    nodes: int | None
    """Number of nodes."""
    save_failures: int
    """Number of failed saves since the process started."""
    saved_generation: int | None
    """Generation last saved as a file by this process, if mirrors are saved."""
    scope: str
    """Scope of the mirror."""
    skipped: dict[str, int]
    """Number of nodes and relationships skipped because a property has a wrong type."""
    slots: int | None
    """Number of relationships, each direction counted."""
    stale: bool
    """Whether a change of the scope is missing that this process has written or seen, or stale_ms exceeds the limit."""
    stale_ms: int | None
    """Milliseconds since the last refresh from the graph."""
    tick: int | None
    """Number of learned outcomes."""
    whole: bool | None
    """Whether all eligible nodes are in memory."""


class MirrorSearched(Model):
    """The mirror that was searched."""

    model_config = ConfigDict(
        use_attribute_docstrings=True,
    )
    as_of: AwareDatetime
    """Instant up to which changes of the graph are included."""
    generation: int
    """Its generation."""
    held_share: float
    """Share of the eligible nodes that are in memory, 0 to 1."""
    holds: bool
    """Whether it holds the memory."""
    whole: bool
    """Whether all eligible nodes are in memory."""


class MirrorStatus(Model):
    """Status of a process's mirror of a scope."""

    model_config = ConfigDict(
        use_attribute_docstrings=True,
    )
    age_ms: int
    """Milliseconds since its last refresh, by the database's clock."""
    bytes: int
    """Bytes."""
    generation: int
    """Generation; each process counts its own."""
    held_share: float
    """Mirrored nodes divided by candidates, 1 if all are mirrored."""
    learned: int
    """Relationships with learned weights, each direction counted."""
    nodes: int
    """Nodes."""
    process: str
    """Process."""
    refresh_ms: int
    """Milliseconds between two refreshes."""
    scope: str
    """Scope."""
    slots: int
    """Relationships, each direction counted."""
    stale: bool
    """Whether that exceeds its configured limit: it is late, or was killed. Such a status is removed after a day."""
    tick: int
    """Learned outcomes."""
    whole: bool
    """Whether all candidates are mirrored."""


class MirrorWithChange(Mirror):
    """Mirror of a scope in memory."""

    model_config = ConfigDict(
        use_attribute_docstrings=True,
    )
    change: str | None = None
    """The change that the write made, if it made one: at_least of a recall that must include it."""


class NextPlace(Model):
    """A next place."""

    model_config = ConfigDict(
        use_attribute_docstrings=True,
    )
    cost: float
    """Cost of the edge."""
    id: str
    """Id of the place; the name of an Entity."""
    label: str
    """Label of the place."""
    score: float
    """Attraction."""
    type: str
    """Type of the edge that leads there."""


class NextPlaces(Model):
    """Candidates for the next place."""

    model_config = ConfigDict(
        use_attribute_docstrings=True,
    )
    candidates: list[NextPlace]


class Observation(Model):
    """Request to record an observed relation."""

    model_config = ConfigDict(
        extra="forbid",
        use_attribute_docstrings=True,
    )
    at: AwareDatetime | None = None
    """Instant of the write; needs the right admin."""
    from_: str = Field(..., alias="from")
    """Source entity."""
    pinned: bool | None = None
    """Whether it is pinned: it does not decay; default unchanged."""
    scope: str | None = None
    """Scope of the data."""
    to: str
    """Target entity."""
    type: str
    """Type of the relation, such as works_on."""
    weight: float | None = None
    """Weight, which decays until the next observation; default 1, or unchanged if the relation stays pinned. Below relation.minimumWeight (default 0.10) recall leaves the relation out."""


class OpenAttempt(Model):
    """An unfinished attempt."""

    model_config = ConfigDict(
        use_attribute_docstrings=True,
    )
    holder: str | None
    """Process that holds its lease."""
    holds: int
    """Number of memories that it holds."""
    id: str
    """Its id."""
    lease_left_ms: int | None
    """Remaining time of its lease, milliseconds."""
    phase: str | None
    """Phase of the attempt."""
    state: str
    """State of the attempt."""


class OpenRun(Model):
    """An open run."""

    model_config = ConfigDict(
        use_attribute_docstrings=True,
    )
    batch: int
    """Committed batches."""
    fence: int
    """Number of takeovers."""
    holder: str | None
    """Holder."""
    job: str
    """Job."""
    lease_left_ms: int | None
    """Rest of its lease, milliseconds."""
    occurrence: str
    """Occurrence."""


class Outcome(Model):
    """Response to an outcome report."""

    model_config = ConfigDict(
        use_attribute_docstrings=True,
    )
    accessed: int
    """Memories among the hits that were accessed."""
    active: int
    """Nodes of the paths whose connections are strengthened."""
    at: AwareDatetime
    """Instant of the report."""
    deposits: int
    """Path steps that deposited success on an edge."""
    dry_run: bool
    """Whether this was a dry run: nothing was written."""
    learns: bool
    """Whether the job learn will process the outcome."""
    left_out: int
    """Nodes beyond the limit of one outcome."""
    not_in_trails: int
    """Path steps without an edge of pheromones.relationship_types, which deposited nothing."""
    recall_id: str
    """Id of the recall."""


class OutcomeWithChange(Outcome):
    """Response to an outcome report."""

    model_config = ConfigDict(
        use_attribute_docstrings=True,
    )
    change: str | None = None
    """The change that the write made, if it made one: at_least of a recall that must include it."""


class Passed(Model):
    """Documented counters of a decay pass."""

    model_config = ConfigDict(
        use_attribute_docstrings=True,
    )
    below_minimum: int = Field(..., alias="belowMinimum")
    """Relations whose weight is now below the minimum."""
    decayed: int
    """Relations whose stored weight was lowered, or would be in a dry run."""
    edges: list[Edge] | None = None
    """Relations that would be lowered, if requested."""
    pinned: int
    """Pinned relations."""
    processed: int
    """Relations scanned that are not pinned."""
    truncated: bool = False
    """Whether it ended before all relations were read; absent if not."""


class PassedWithChange(Passed):
    """Documented counters of a decay pass."""

    model_config = ConfigDict(
        use_attribute_docstrings=True,
    )
    change: str | None = None
    """The change that the write made, if it made one: at_least of a recall that must include it."""


class PastQuery(Model):
    """An earlier recall."""

    model_config = ConfigDict(
        use_attribute_docstrings=True,
    )
    activated: list[str]
    """Its hits, best first."""
    queried_at: AwareDatetime
    """When it was answered, by the clock of the process."""
    seeds: list[str]
    """Its seeds, the strongest first."""
    text: str
    """Its text, at most 1,024 bytes."""


class PastRun(Model):
    """A run recorded in the ledger."""

    model_config = ConfigDict(
        use_attribute_docstrings=True,
    )
    adopted: int
    """Rows of other writers that were adopted."""
    affected: int
    """Memories expired, promoted or reinforced, clusters formed or dissolved, and facts retracted."""
    at: AwareDatetime | None
    """Instant that the run used as now."""
    changed: int
    """Rows written."""
    conflicts: int
    """Memories claimed by two attempts."""
    expired: int
    """Memories that expired."""
    finished: AwareDatetime | None
    """Instant of the end."""
    job: str
    """Its name."""
    occurrence: str
    """Occurrence of the run."""
    promoted: int
    """Memories promoted."""
    quarantined: int
    """Rows quarantined."""
    reason: str | None
    """Reason for a skip or a failure."""
    run_id: str
    """The id of its run."""
    scanned: int
    """Rows scanned."""
    skipped: int
    """Rows skipped."""
    started: AwareDatetime | None
    """Instant of the start."""
    state: str
    """State: open, done, guarded or failed."""
    trigger: str
    """Trigger: schedule or manual."""
    truncated: bool
    """Whether the run stopped before all due work was done."""


class PathStep(Model):
    """A relationship of a path."""

    model_config = ConfigDict(
        use_attribute_docstrings=True,
    )
    type: str
    """Type of the relationship."""
    weight: float
    """Weight of the relationship."""


class PrimedNode(Model):
    """A node added because it was often a seed together with the seeds."""

    model_config = ConfigDict(
        use_attribute_docstrings=True,
    )
    id: str
    """External id."""
    score: float
    """Score, above 0, up to a tenth of the strongest seed."""


class Provenance(Model):
    """Source of a node."""

    model_config = ConfigDict(
        extra="forbid",
        use_attribute_docstrings=True,
    )
    canonical: bool = False
    """Whether this is the original source."""
    excerpt: str | None = None
    """Excerpt of the source text."""
    line_end: int | None = None
    """Last line in the source."""
    line_start: int | None = None
    """First line in the source, from 1."""
    namespace: str | None = None
    """Namespace of the source."""
    source_path: str | None = None
    """Path of the source file."""


class QueriedNode(Model):
    """A node of earlier recalls."""

    model_config = ConfigDict(
        use_attribute_docstrings=True,
    )
    frequency: int
    """Number of recalls in which it was a seed or a hit."""
    id: str
    """Id; for an entity its name."""
    seeded: int
    """Number of recalls in which it was a seed."""


class QuestionWord(Model):
    """A word of a question."""

    model_config = ConfigDict(
        use_attribute_docstrings=True,
    )
    in_text: bool
    """Whether the text of the memory has it, in any form."""
    word: str


class QueuedSweep(Model):
    """A sweep queued for a worker."""

    model_config = ConfigDict(
        use_attribute_docstrings=True,
    )
    estimated_s: int
    """Estimated duration, seconds."""
    job_id: str
    """Id for queries of its state."""
    status: Literal["pending", "running", "done", "failed"] | str
    """State of the sweep."""


class RankEvidence(Model):
    """The evidence about a ranked node."""

    model_config = ConfigDict(
        use_attribute_docstrings=True,
    )
    dimensions: Dimensions
    """Score by each kind of evidence, 0 to 1."""
    id: str
    path: list[str]
    """Ids of the path from a seed; empty if activation did not reach it."""
    rank: int
    """Rank among all nodes that were found, from 1: the top_k that shows it."""
    relevance: float | None = None
    """Estimated probability that it is relevant to the question, 0 to 1, as in a recall."""
    score: float
    similarity: float | None
    """Similarity of its embedding to that of the question; null if they were not compared, or beyond the 200 most similar."""
    steps: list[PathStep]
    """Relationships of the path with their weights."""
    text_rank: int | None
    """Rank by text among memories, from 1; null beyond the first 200."""


class RecallCounters(Model):
    """Work done by a query."""

    model_config = ConfigDict(
        use_attribute_docstrings=True,
    )
    nodes_touched: int
    """Nodes reached."""
    partial_nodes: int
    """Nodes reached that lack relationships because their other ends were not loaded."""
    postings_read: int
    """Text index postings read."""
    rows_touched: int
    """Nodes that sent a signal."""
    slots_read: int
    """Relationships read, each direction counted."""
    useful_slots: int
    """Relationships that carried a signal."""


class RelationsPage(Model):
    model_config = ConfigDict(
        use_attribute_docstrings=True,
    )
    relations: list[Edge]
    cursor: str | None = None
    """Cursor of the next page; none if this is the last."""


class Remedy(Model):
    """A change that would have helped."""

    model_config = ConfigDict(
        use_attribute_docstrings=True,
    )
    needed: float | None
    """The value that would suffice."""
    setting: str | None
    """Name of the setting to change, if it is one."""
    text: str
    """The change, in a sentence."""
    value: float | None
    """Its present value."""


class RemovedPolicy(Model):
    """A policy that was removed."""

    model_config = ConfigDict(
        use_attribute_docstrings=True,
    )
    dry_run: bool
    """Whether this was a dry run: nothing was written."""
    id: str
    """Its id."""


class RemovedPolicyWithChange(RemovedPolicy):
    """A policy that was removed."""

    model_config = ConfigDict(
        use_attribute_docstrings=True,
    )
    change: str | None = None
    """The change that the write made, if it made one: at_least of a recall that must include it."""


class RerankedRow(Model):
    """Score of a row."""

    model_config = ConfigDict(
        use_attribute_docstrings=True,
    )
    key: str
    """Key as requested."""
    kind: Literal["node", "fact"] | str | None
    """Kind of the row; null if there is none with this key in the scope."""
    live: bool
    """Whether it is live: there, not retired by its library and not hidden."""
    score: float
    """Score for the query; 0 if it is not live."""
    weight: float
    """Current weight, 0 to 1: 1 when it was last observed or accessed, halved in each half-life since."""
    why: str
    """Reason for the score."""


class ResonateHit(Model):
    """Oscillation of a node."""

    model_config = ConfigDict(
        use_attribute_docstrings=True,
    )
    amplitude: float
    """Amplitude."""
    antinode: bool
    """Whether the amplitude is at least half of the largest."""
    coherence: float
    """Share of the incoming amplitude that is in phase, 0 to 1."""
    id: str
    """Id; for an entity its name."""
    kind: str
    """Label of the node in the graph."""
    label: str
    """Display text."""
    phase: float
    """Phase, 0 to 2 pi."""
    quiet: bool
    """Whether much amplitude arrived and at most a tenth of it remains."""
    score: float
    """Score: the amplitude."""


class ScopeReceipt(Model):
    """The receipt of a deletion of a scope. It has no content of the scope, and stays."""

    model_config = ConfigDict(
        use_attribute_docstrings=True,
    )
    at: AwareDatetime
    """Instant of its beginning, by the server's clock."""
    by: str
    """Id of the API key that asked for it, or the surface."""
    emptied: int
    """
    Those among them that stay as a node without labels and properties of Ebb's, since a relationship of another writer
    leads to it.
    """
    finished: AwareDatetime | None
    """Instant of its end; null if it was broken off: the same request continues it."""
    id: str
    """Its id."""
    nodes: dict[str, int]
    """Deleted nodes by label."""
    scope: str
    """The scope."""
    total: int
    """Number of deleted nodes."""


class ScopeReceipts(Model):
    """Response to a query for the receipts of a scope."""

    model_config = ConfigDict(
        use_attribute_docstrings=True,
    )
    receipts: list[ScopeReceipt]
    """Receipts, latest first, at most 100."""


class ScopeSummary(Model):
    """A scope."""

    model_config = ConfigDict(
        use_attribute_docstrings=True,
    )
    memories: int
    """Number of its live memories."""
    scope: str
    """Its name."""


class ScopesList(Model):
    """Response to a query for scopes."""

    model_config = ConfigDict(
        use_attribute_docstrings=True,
    )
    next: str | None
    """Where the next page begins, if more may follow."""
    scopes: list[ScopeSummary]
    """Scopes with rows that the caller may read, by name."""


class SeedEvidence(Model):
    """A match by which a seed was found."""

    model_config = ConfigDict(
        use_attribute_docstrings=True,
    )
    ground: str
    """Kind of match: name, exact, prefix, contains, tag, spelling, fact, external or text."""
    of: str
    """Matched word of the query, or the other end of the matched fact."""
    score: float
    """Score of this match alone."""


class SeedPair(Model):
    """Two nodes that were seeds of the same recalls."""

    model_config = ConfigDict(
        use_attribute_docstrings=True,
    )
    count: int
    """Number of such recalls."""
    ids: list[str]
    """Ids of both, in their order."""


class Server(Model):
    """The database."""

    model_config = ConfigDict(
        use_attribute_docstrings=True,
    )
    edition: str
    """Its edition."""
    name: str
    """Name of the product."""
    uri: str
    """Its address."""
    version: str
    """Its version."""


class SessionEnd(Model):
    """A session that ended, with the memories it promoted."""

    model_config = ConfigDict(
        use_attribute_docstrings=True,
    )
    at: AwareDatetime
    """Instant of the end."""
    dry_run: bool
    """Whether this was a dry run: nothing was written."""
    held: int
    """Memories that an attempt of the job promote holds and will promote."""
    promoted: list[str]
    """Ids of the memories promoted to shortTerm."""
    session: str
    """Its id."""


class SessionEndWithChange(SessionEnd):
    """A session that ended, with the memories it promoted."""

    model_config = ConfigDict(
        use_attribute_docstrings=True,
    )
    change: str | None = None
    """The change that the write made, if it made one: at_least of a recall that must include it."""


class StatesSet(Model):
    """Response to a change of states."""

    model_config = ConfigDict(
        use_attribute_docstrings=True,
    )
    at: AwareDatetime
    """Instant of the change."""
    dry_run: bool
    """Whether this was a dry run: nothing was written."""
    rows: int
    """Number of rows."""


class StatesSetWithChange(StatesSet):
    """Response to a change of states."""

    model_config = ConfigDict(
        use_attribute_docstrings=True,
    )
    change: str | None = None
    """The change that the write made, if it made one: at_least of a recall that must include it."""


class SweepAnswer(Model):
    """Documented response of a sweep."""

    model_config = ConfigDict(
        use_attribute_docstrings=True,
    )
    dry_run_would_reduce: int
    dry_run_would_retract: int
    facts_evaluated: int
    facts_reduced: int
    facts_retracted: int
    mode: Literal["retract", "confidence", "dry_run"] | str
    policies_applied: list[str]
    scope: Literal["local", "team", "company", "public"] | str
    swept_at: AwareDatetime


class SweepJob(Model):
    """State and progress of a queued sweep."""

    model_config = ConfigDict(
        use_attribute_docstrings=True,
    )
    dry_run_would_reduce: int
    dry_run_would_retract: int
    facts_evaluated: int
    facts_reduced: int
    facts_retracted: int
    job_id: str
    """Its id."""
    mode: Literal["retract", "confidence", "dry_run"] | str
    policies_applied: list[str]
    reason: str | None = None
    """Reason for the failure."""
    scope: Literal["local", "team", "company", "public"] | str
    status: Literal["pending", "running", "done", "failed"] | str
    """State of the sweep."""
    swept_at: AwareDatetime


class SweepStep(Model):
    """A frequency of a sweep."""

    model_config = ConfigDict(
        use_attribute_docstrings=True,
    )
    energy: float
    """Sum of the squared amplitudes of all nodes."""
    frequency: float
    """Frequency of the step."""
    period: float | None
    """Number of relationships in a period; null at frequency 0."""
    resonant: bool
    """Whether the energy is greater than at the two neighbouring frequencies."""


class Sympathetic(Model):
    """A node that resonates far from every seed."""

    model_config = ConfigDict(
        use_attribute_docstrings=True,
    )
    amplitude: float
    """Amplitude."""
    antinode: bool
    """Whether the amplitude is at least half of the largest."""
    coherence: float
    """Share of the incoming amplitude that is in phase, 0 to 1."""
    cross_region: bool
    """Whether its community contains no seed."""
    id: str
    """Id; for an entity its name."""
    kind: str
    """Label of the node in the graph."""
    label: str
    """Display text."""
    phase: float
    """Phase, 0 to 2 pi."""
    quiet: bool
    """Whether much amplitude arrived and at most a tenth of it remains."""
    score: float
    """Score: the amplitude."""


class Sympathy(Model):
    """Nodes that resonate far from every seed: more than two relationships away."""

    model_config = ConfigDict(
        use_attribute_docstrings=True,
    )
    hits: list[Sympathetic]
    """Nodes by amplitude, largest first."""
    left_out: int
    """Number of such nodes not listed."""
    unreached: int
    """Number of nodes that no wave reached."""


class TierCount(Model):
    """Counts of a tier."""

    model_config = ConfigDict(
        use_attribute_docstrings=True,
    )
    memories: int
    """Memories in the tier."""
    quarantined: int
    """Quarantined memories of these."""
    tier: str
    """Name of the tier."""


class TierHealth(Model):
    """Energies of the memories of a tier."""

    model_config = ConfigDict(
        use_attribute_docstrings=True,
    )
    avg_energy: float | None = Field(..., alias="avgEnergy")
    """Average energy."""
    count: int
    """Memories in the tier."""
    max_energy: float | None = Field(..., alias="maxEnergy")
    """Greatest energy."""
    min_energy: float | None = Field(..., alias="minEnergy")
    """Least energy."""
    tier: str
    """Name of the tier."""


class Touched(Model):
    """Effect of a request on a memory."""

    model_config = ConfigDict(
        use_attribute_docstrings=True,
    )
    did: str
    """Effect: created, accessed or revived; forgotten for a memory that was deleted on request and stays deleted."""
    id: str
    """Its id."""


class TrailCycle(Model):
    """The current cycle."""

    model_config = ConfigDict(
        use_attribute_docstrings=True,
    )
    advances: int
    """Number of cycles added manually."""
    at: AwareDatetime
    """Instant of the response."""
    begins: AwareDatetime
    """Start of the cycle."""
    cycle: int
    """Number of the cycle."""
    dry_run: bool
    """Whether this was a dry run: nothing was written."""
    evaporated: int | None
    """Cycle of the last complete evaporation; null if no trail has pheromones."""
    length_seconds: int
    """Length of a cycle, seconds."""


class TrailCycleWithChange(TrailCycle):
    """The current cycle."""

    model_config = ConfigDict(
        use_attribute_docstrings=True,
    )
    change: str | None = None
    """The change that the write made, if it made one: at_least of a recall that must include it."""


class TrailNode(Model):
    """Reference to a place."""

    model_config = ConfigDict(
        use_attribute_docstrings=True,
    )
    id: str
    """Id of the place; the name of an Entity."""
    label: str
    """Label of the place."""


class TrailPlace(Model):
    """A place and its pheromones."""

    model_config = ConfigDict(
        use_attribute_docstrings=True,
    )
    exploitation: float
    """Exploitation: "worth coming back to"."""
    exploration: float
    """Exploration: "searched already"."""
    id: str
    """Id of the place; the name of an Entity."""
    label: str
    """Label of the place."""


class UsedHit(Model):
    """A hit that was useful."""

    model_config = ConfigDict(
        extra="forbid",
        use_attribute_docstrings=True,
    )
    id: str
    """Its id."""
    path: list[str]
    """Path to the hit from the recall's response; empty if it had none."""


class Version(Model):
    """A former state of the text, the tags and the metadata of a memory."""

    model_config = ConfigDict(
        use_attribute_docstrings=True,
    )
    content: str | None
    """Text of the memory."""
    merged_from: str | None = None
    """Id of the memory that said it, if that was merged into this one."""
    metadata: dict[str, Any]
    """Fields that its writer gave it."""
    since: AwareDatetime | None
    """Instant from which it was in force."""
    tags: list[str]
    """Tags, in order."""
    until: AwareDatetime | None
    """Instant of the change that replaced it."""


class Versions(Model):
    """What a memory was."""

    model_config = ConfigDict(
        use_attribute_docstrings=True,
    )
    versions: list[Version]
    """The newest first, at most 100."""


class Waiting(Model):
    """Backlog of the jobs."""

    model_config = ConfigDict(
        use_attribute_docstrings=True,
    )
    clusters: int
    """Memories in the queue for clustering."""
    due: int
    """Memories due for decay."""
    embed: int
    """Memories to be embedded, if a model is configured."""
    outcomes: int
    """Outcomes to be learned."""
    quarantined: int
    """Quarantined rows."""
    reinforce: int
    """New memories, for reinforcement."""
    ripe: int
    """Memories ripe for promotion."""
    sessions: int
    """Sessions to be counted for coactivation."""
    unstamped: int
    """Memories of other writers that the next run will adopt."""


class WaitingJob(Model):
    """A job that waits for a run, or whose open run waits for a worker."""

    model_config = ConfigDict(
        use_attribute_docstrings=True,
    )
    cause: Literal["disabled", "due", "stranded"] | str
    """The cause."""
    job: Literal["audit", "decay", "coactivate", "cluster", "embed", "reinforce", "promote", "evaporate", "fade", "sweep", "learn"] | str
    """Its name."""
    seconds: int | None = None
    """How long it has waited."""


class WalkedEdge(Model):
    """An edge of a path."""

    model_config = ConfigDict(
        use_attribute_docstrings=True,
    )
    cost: float
    """Cost of the edge."""
    type: str
    """Type of the edge."""


class WrittenEdge(Model):
    """Effect of a write on a relation."""

    model_config = ConfigDict(
        use_attribute_docstrings=True,
    )
    at: AwareDatetime
    """Instant of the observation."""
    dry_run: bool
    """Whether this was a dry run: nothing was written."""
    from_: str = Field(..., alias="from")
    """Source entity."""
    outcome: str | None = None
    """Effect of an observation: created, again, or late if a later one is stored."""
    to: str
    """Target entity."""
    type: str
    """Type of the relation."""
    weight: float | None = None
    """Weight after a pin."""


class WrittenEdgeWithChange(WrittenEdge):
    """Effect of a write on a relation."""

    model_config = ConfigDict(
        use_attribute_docstrings=True,
    )
    change: str | None = None
    """The change that the write made, if it made one: at_least of a recall that must include it."""


class XlrHit(Model):
    """An activated node with its contrast."""

    model_config = ConfigDict(
        use_attribute_docstrings=True,
    )
    activation: float
    """Activation before contrast."""
    contrast: Contrast | None
    """Contrast of the node; null if the wave from the seeds did not reach it, which leaves its activation unchanged."""
    id: str
    """Id; for an entity its name."""
    kind: str
    """Label of the node in the graph."""
    label: str
    """Display text."""
    score: float
    """Activation after contrast."""
    was: int
    """Rank by activation alone, from 1."""


class AroundAnswer(Model):
    """The nodes around some nodes."""

    model_config = ConfigDict(
        use_attribute_docstrings=True,
    )
    as_of: AwareDatetime | None
    """Instant up to which changes of the graph are included."""
    edges: list[AroundEdge]
    """Relationships among them, strongest first; one that holds in both directions appears once."""
    flags: list[str]
    """Flags of a truncated, partial or not converged result."""
    generation: int
    """Generation of the graph that answered."""
    held_share: float
    """Share of the eligible nodes that are in memory, 0 to 1."""
    nodes: list[AroundNode]
    """The requested nodes, then the others: the nearest first, then the most strongly joined."""
    stale: bool
    """Whether a change of the scope is missing that this process has written or seen, or stale_ms exceeds the limit."""
    stale_ms: int
    """Milliseconds since the last refresh from the graph."""
    tick_end: int
    """Number of learned outcomes at its end; if it differs, weights changed during the query."""
    tick_start: int
    """Number of learned outcomes at the start of the query."""
    truncated: bool
    """Whether the result is truncated; the flags that end in truncated name the part."""
    unknown_seeds: list[str]
    """Given ids that are not in the graph."""
    whole: bool
    """Whether all eligible nodes are in memory; otherwise only the hottest nodes are."""


class AssertedAll(Model):
    """Facts that a batch asserted, in the order of the request."""

    model_config = ConfigDict(
        use_attribute_docstrings=True,
    )
    facts: list[AssertedFact]


class AssertedAllWithChange(AssertedAll):
    """Facts that a batch asserted, in the order of the request."""

    model_config = ConfigDict(
        use_attribute_docstrings=True,
    )
    change: str | None = None
    """The change that the write made, if it made one: at_least of a recall that must include it."""


class Bridge(Model):
    """A node with links to communities."""

    model_config = ConfigDict(
        use_attribute_docstrings=True,
    )
    community: int
    """Number of its community."""
    id: str
    """Id; for an entity its name."""
    inside: float
    """Sum of the weights of its relationships inside its community, each direction counted."""
    kind: str
    """Label of the node in the graph."""
    label: str
    """Display text."""
    outside: float
    """Sum of the weights of its relationships to other communities."""
    ties: list[CommunityTie]
    """Links to other communities, heaviest first."""


class CausalHit(Model):
    """A node with the strongest causal chain to it."""

    model_config = ConfigDict(
        use_attribute_docstrings=True,
    )
    id: str
    """Id; for an entity its name."""
    kind: str
    """Label of the node in the graph."""
    label: str
    """Display text."""
    path: list[str]
    """Ids of the nodes of the chain, the seed first."""
    score: float
    """Strength of the chain: the score of its seed, times 0.7 and the causal strength of each relationship."""
    steps: list[CausalStep]
    """Relationships of the chain, from the seed on."""


class CheapestPath(Model):
    """The cheapest path between two places."""

    model_config = ConfigDict(
        use_attribute_docstrings=True,
    )
    at: AwareDatetime
    """Instant of the values."""
    cost: float | None
    """Cost of the path; null if no path was found."""
    cycle: int
    """Cycle of the values."""
    edges: list[WalkedEdge]
    """Edges between them, in order."""
    nodes: list[TrailNode]
    """Places, in order; empty if no path was found."""
    read: int
    """Number of places read."""
    truncated: bool
    """Whether the search stopped early: a cheaper path may exist."""


class ColdPlaces(Model):
    """Places, coldest first."""

    model_config = ConfigDict(
        use_attribute_docstrings=True,
    )
    nodes: list[TrailPlace]


class CommunitiesAnswer(Model):
    """Response of communities."""

    model_config = ConfigDict(
        use_attribute_docstrings=True,
    )
    alone: int
    """Number of communities with one node."""
    as_of: AwareDatetime | None
    """Instant up to which changes of the graph are included."""
    bridges: list[Bridge]
    """Nodes with the strongest links between communities, or the requested node alone."""
    communities: list[Community]
    """Listed communities, largest first."""
    count: int
    """Number of communities."""
    flags: list[str]
    """Flags of a truncated, partial or not converged result."""
    generation: int
    """Generation of the graph that answered."""
    held_share: float
    """Share of the eligible nodes that are in memory, 0 to 1."""
    hits: list[CommunitiesHit]
    """Members of the listed communities, by community, then by PageRank, best first."""
    left_out: int
    """Number of members not listed: of the requested node's community, otherwise of all communities."""
    levels: int
    """Number of levels of the algorithm."""
    modularity: float
    """Modularity: at resolution 1 from -0.5 to 1, and 0 in a graph without relationships."""
    stale: bool
    """Whether a change of the scope is missing that this process has written or seen, or stale_ms exceeds the limit."""
    stale_ms: int
    """Milliseconds since the last refresh from the graph."""
    tick_end: int
    """Number of learned outcomes at its end; if it differs, weights changed during the query."""
    tick_start: int
    """Number of learned outcomes at the start of the query."""
    truncated: bool
    """Whether the result is truncated; the flags that end in truncated name the part."""
    unknown_seeds: list[str]
    """Given ids that are not in the graph."""
    whole: bool
    """Whether all eligible nodes are in memory; otherwise only the hottest nodes are."""


class ContextMemory(Model):
    """A memory of the text."""

    model_config = ConfigDict(
        use_attribute_docstrings=True,
    )
    created: AwareDatetime | None
    """Instant of its creation, if known."""
    duplicates: list[Duplicate2] = Field([], validate_default=True)
    """Older hits with the same text, which is not repeated."""
    id: str
    """Its id."""
    is_cut: bool = False
    """Whether its content was cut to fit."""
    path: list[str] = []
    """Ids of a path from a seed to the hit; empty if activation did not reach it."""
    rank: int | None
    """Rank among the hits, from 1; null if it is no hit and stands between two hits of its session."""
    relevance: float | None = None
    """Estimated probability that it is relevant to the question, 0 to 1, as in a recall."""
    score: float | None = None
    """Score that orders the hits; comparable inside one response only."""
    session: str | None = None
    """Session in which it was created."""


class DecayPolicies(Model):
    """The policies in force."""

    model_config = ConfigDict(
        use_attribute_docstrings=True,
    )
    from_: str = Field(..., alias="from")
    """Origin of the policies: configuration or graph."""
    policies: list[DecayPolicy]
    """Policies in order."""


class DoneAll(Model):
    """Effects of a batch, in the order of the request."""

    model_config = ConfigDict(
        use_attribute_docstrings=True,
    )
    memories: list[Touched]


class DoneAllWithChange(DoneAll):
    """Effects of a batch, in the order of the request."""

    model_config = ConfigDict(
        use_attribute_docstrings=True,
    )
    change: str | None = None
    """The change that the write made, if it made one: at_least of a recall that must include it."""


class Duplicates(Model):
    """Groups of memories that say nearly the same in the same words."""

    model_config = ConfigDict(
        use_attribute_docstrings=True,
    )
    compared: int
    """Memories that were compared."""
    complete: bool
    """Whether these are all memories of the scope."""
    found: int
    """Groups that were found."""
    groups: list[Group]
    """Those with the most duplicates first."""


class EnergyCurve(Model):
    """The course of an energy."""

    model_config = ConfigDict(
        use_attribute_docstrings=True,
    )
    ahead: list[EnergyPoint]
    """Its energy from then until shortly after the last threshold that it will cross, or for three half-lives."""
    past: list[list[EnergyPoint]]
    """Its energy up to the last access or change: a list of points between each two events, oldest first, at most the last 100. Empty if the records do not explain it."""
    thresholds: list[EnergyLevel]
    """The energies at which it is promoted or expires."""


class EngineAnswer(Model):
    """Response of a mechanism of the engine."""

    model_config = ConfigDict(
        use_attribute_docstrings=True,
    )
    as_of: AwareDatetime | None
    """Instant up to which changes of the graph are included."""
    flags: list[str]
    """Flags of a truncated or not converged result."""
    generation: int
    """Generation of the graph that answered."""
    held_share: float
    """Share of the eligible nodes that are in memory, 0 to 1."""
    hits: list[EngineHit]
    """Hits, best first."""
    nodes_touched: int
    """Number of nodes reached."""
    slots_read: int
    """Number of relationships read, each direction counted."""
    stale: bool
    """Whether a change of the scope is missing that this process has written or seen, or stale_ms exceeds the limit."""
    stale_ms: int
    """Milliseconds since the last refresh from the graph."""
    tick_end: int
    """Number of learned outcomes at its end; if it differs, weights changed during the query."""
    tick_start: int
    """Number of learned outcomes at the start of the query."""
    truncated: bool
    """Whether the result is truncated; the flags that end in truncated name the part."""
    unknown_seeds: list[str]
    """Given seeds that are not in the graph."""
    whole: bool
    """Whether all eligible nodes are in memory; otherwise only the hottest nodes are."""


class Explained(Model):
    """A memory with the explanation of its state."""

    model_config = ConfigDict(
        use_attribute_docstrings=True,
    )
    access_count: int | None = Field(..., alias="accessCount")
    """Number of accesses."""
    because: str
    """Reason for its state, in one or two sentences."""
    clusters: list[str]
    """Clusters that contain it."""
    content: str | None
    """Text of the memory."""
    created: AwareDatetime | None
    """Instant of the creation."""
    crossings: list[Crossing]
    """Thresholds that its energy will cross, soonest first."""
    curve: EnergyCurve | None = None
    """The course of its energy, if requested."""
    did: str | None = None
    """Effect of the request: created, accessed or revived."""
    dry_run: bool = False
    """Whether this was a dry run: nothing was written."""
    due_at: AwareDatetime | None = Field(..., alias="dueAt")
    """Instant at which the next pass is due."""
    energy: float | None
    """Energy at the requested instant."""
    energy_at: AwareDatetime | None = Field(..., alias="energyAt")
    """Instant of the stored energy."""
    fallback_tunables: Literal["last_valid", "configuration"] | str | None = None
    """Tunables that its energy follows, while those of the graph are invalid."""
    half_life_hours: float | None
    """Half-life of its energy, hours; null if it does not decay."""
    history: list[Event]
    """Events of the memory, latest first."""
    id: str
    """Id, unique in the scope."""
    last_accessed: AwareDatetime | None = Field(..., alias="lastAccessed")
    """Instant of the last access."""
    metadata: dict[str, Any] | None = None
    """Fields that its writer gave it."""
    pinned: bool | None
    """Whether it is pinned: it does not decay, expire or get promoted."""
    promoted_from: str | None = Field(..., alias="promotedFrom")
    """Id of the stub of its last promotion."""
    provenance: Provenance | None = None
    """Source of the text, if recorded."""
    quarantined: str | None = None
    """Reason for its quarantine."""
    reinforcement_count: int = Field(..., alias="reinforcementCount")
    """Number of reinforcements by similar memories."""
    ripe_at: AwareDatetime | None = Field(..., alias="ripeAt")
    """Instant from which it is ready for promotion."""
    scope: str | None
    """Scope of the memory."""
    session: str | None
    """Session in which it was created."""
    tags: list[str] = []
    """Tags, in order."""
    tier: Literal["working", "shortTerm", "longTerm", "expiredWorking", "archivedWorking", "archivedShortTerm"] | str | None
    """Tier of the memory."""
    updated: AwareDatetime | None = None
    """Instant of the last change of its content, tags or metadata."""


class HarmonicsAnswer(Model):
    """Response of harmonics."""

    model_config = ConfigDict(
        use_attribute_docstrings=True,
    )
    as_of: AwareDatetime | None
    """Instant up to which changes of the graph are included."""
    dropped_energy: float
    """Sum of the squared amplitudes of pulses dropped because the budget was spent."""
    flags: list[str]
    """Flags of a truncated, partial or not converged result."""
    generation: int
    """Generation of the graph that answered."""
    harmonics: list[Harmonic]
    """Harmonics, at most five: a phase shift is at most half a turn for each relationship."""
    held_share: float
    """Share of the eligible nodes that are in memory, 0 to 1."""
    hits: list[HarmonicsHit]
    """Nodes with the greatest amplitude at each harmonic, by harmonic, then by amplitude."""
    nodes_touched: int
    """Number of nodes reached."""
    pulses: int
    """Number of pulses followed."""
    stale: bool
    """Whether a change of the scope is missing that this process has written or seen, or stale_ms exceeds the limit."""
    stale_ms: int
    """Milliseconds since the last refresh from the graph."""
    sweep: list[SweepStep]
    """Sweep over all distinct frequencies; higher ones are mirror images."""
    tick_end: int
    """Number of learned outcomes at its end; if it differs, weights changed during the query."""
    tick_start: int
    """Number of learned outcomes at the start of the query."""
    truncated: bool
    """Whether the result is truncated; the flags that end in truncated name the part."""
    unknown_seeds: list[str]
    """Given ids that are not in the graph."""
    whole: bool
    """Whether all eligible nodes are in memory; otherwise only the hottest nodes are."""


class Health(Model):
    """The documented health check."""

    model_config = ConfigDict(
        use_attribute_docstrings=True,
    )
    at: AwareDatetime
    """Instant of the energies."""
    clusters: int
    """Memories waiting for the job cluster."""
    due: int
    """Memories due for decay."""
    embed: int
    """Memories waiting for the job embed, if an embedder is configured."""
    fallback_tunables: Literal["last_valid", "configuration"] | str | None = None
    """Tunables that are used, while those of the graph are invalid."""
    outcomes: int
    """Outcomes waiting for the job learn."""
    quarantined: int
    """Quarantined rows."""
    reinforce: int
    """New memories waiting for the job reinforce."""
    ripe: int
    """Memories ready for promotion."""
    sessions: int
    """Sessions waiting for the job coactivate."""
    stuck_attempts: int
    """Unfinished attempts whose lease expired."""
    tiers: list[TierHealth]
    """Tiers that hold memories."""


class Hidden(Model):
    """Response to a request for hidden rows."""

    model_config = ConfigDict(
        use_attribute_docstrings=True,
    )
    hidden: list[HiddenRow]
    """The hidden rows, nodes first, by key."""


class Hit(Model):
    """A hit."""

    model_config = ConfigDict(
        use_attribute_docstrings=True,
    )
    bonus: float
    """Factor of the score for agreement of several kinds of evidence."""
    content: str | None = None
    """Text of the memory, with content."""
    contrast: Contrast | None = None
    """Contrast of the hit, with xlr, if waves reached it."""
    dimensions: Dimensions
    """Score by each kind of evidence, 0 to 1."""
    from_database: bool = False
    """Whether it did not fit into memory itself, and was found by the vector index of the database."""
    id: str
    """Id; for an entity its name."""
    kind: str
    """Label of the node in the graph."""
    label: str
    """Display text: the name, or the first 200 bytes of a memory."""
    metadata: dict[str, Any] | None = None
    """Fields that its writer gave it."""
    partial: bool
    """Whether it lacks relationships because their other ends did not fit into memory."""
    path: list[str]
    """Ids of a path from a seed to the hit, the strongest or else the shortest; empty if activation did not reach it."""
    provenance: Provenance | None = None
    """Source of the text, if recorded; its excerpt with content."""
    relevance: float | None = None
    """Estimated probability that it is relevant to the question, 0 to 1, by its own text and embedding. Nodes without a text have none, and no node has one if the question has neither a word that counts nor an embedding."""
    score: float
    """Score that orders the hits; comparable inside one response only."""
    similarity: float | None = None
    """Similarity of its embedding to that of the request, -1 to 1."""
    steps: list[PathStep] | None = None
    """Relationships of the path with their weights, with why."""
    tags: list[str] = []
    """Tags, in order."""
    text_rank: int | None
    """Rank by text among memories, from 1."""


class Job(Model):
    """A job and its schedule."""

    model_config = ConfigDict(
        use_attribute_docstrings=True,
    )
    about: str
    """Description of the job."""
    cron: str | None = None
    """Cron pattern, if the schedule is one."""
    enabled: bool
    """Whether the scheduler runs the job."""
    every_seconds: int | None
    """Seconds between two runs, if the schedule is an interval."""
    job: Literal["audit", "decay", "coactivate", "cluster", "embed", "reinforce", "promote", "evaporate", "fade", "sweep", "learn"] | str
    """Its name."""
    lag_seconds: int
    """Seconds since the first occurrence without a run; 0 if none is due."""
    last: AwareDatetime | None
    """Last scheduled occurrence: the planned instant."""
    last_run: LastRun | None
    """Last run, scheduled or manual."""
    next: AwareDatetime
    """Occurrence that is due, otherwise the next one."""
    stranded_seconds: int | None = None
    """Seconds since its open run lost its holder, which no worker has taken over yet."""
    timezone: str | None = None
    """Time zone of the cron pattern."""


class JobHistory(Model):
    """Past runs, and the jobs that wait for one."""

    model_config = ConfigDict(
        use_attribute_docstrings=True,
    )
    fallback_tunables: Literal["last_valid", "configuration"] | str | None = None
    """Tunables that are used, while those of the graph are invalid."""
    runs: list[PastRun]
    """The last runs, newest first."""
    stopped: str | None = None
    """Reason that no job can run and no memory can be written."""
    unscheduled: str | None = None
    """Reason that no job runs by its schedule."""
    waiting: list[WaitingJob]
    """The jobs that wait for a run."""


class Jobs(Model):
    """The jobs."""

    model_config = ConfigDict(
        use_attribute_docstrings=True,
    )
    fallback_tunables: Literal["last_valid", "configuration"] | str | None = None
    """Tunables that are used, while those of the graph are invalid."""
    jobs: list[Job]
    stopped: str | None = None
    """Reason that no job can run and no memory can be written."""
    unscheduled: str | None = None
    """Reason that no job runs by its schedule."""


class Memory(Model):
    """A memory at an instant. A quarantined row has its reason in `quarantined`, and null for fields that are not known."""

    model_config = ConfigDict(
        use_attribute_docstrings=True,
    )
    access_count: int | None = Field(..., alias="accessCount")
    """Number of accesses."""
    clusters: list[str]
    """Clusters that contain it."""
    content: str | None
    """Text of the memory."""
    created: AwareDatetime | None
    """Instant of the creation."""
    did: str | None = None
    """Effect of the request: created, accessed or revived."""
    dry_run: bool = False
    """Whether this was a dry run: nothing was written."""
    due_at: AwareDatetime | None = Field(..., alias="dueAt")
    """Instant at which the next pass is due."""
    energy: float | None
    """Energy at the requested instant."""
    energy_at: AwareDatetime | None = Field(..., alias="energyAt")
    """Instant of the stored energy."""
    fallback_tunables: Literal["last_valid", "configuration"] | str | None = None
    """Tunables that its energy follows, while those of the graph are invalid."""
    id: str
    """Id, unique in the scope."""
    last_accessed: AwareDatetime | None = Field(..., alias="lastAccessed")
    """Instant of the last access."""
    metadata: dict[str, Any] | None = None
    """Fields that its writer gave it."""
    pinned: bool | None
    """Whether it is pinned: it does not decay, expire or get promoted."""
    promoted_from: str | None = Field(..., alias="promotedFrom")
    """Id of the stub of its last promotion."""
    provenance: Provenance | None = None
    """Source of the text, if recorded."""
    quarantined: str | None = None
    """Reason for its quarantine."""
    reinforcement_count: int = Field(..., alias="reinforcementCount")
    """Number of reinforcements by similar memories."""
    ripe_at: AwareDatetime | None = Field(..., alias="ripeAt")
    """Instant from which it is ready for promotion."""
    scope: str | None
    """Scope of the memory."""
    session: str | None
    """Session in which it was created."""
    tags: list[str] = []
    """Tags, in order."""
    tier: Literal["working", "shortTerm", "longTerm", "expiredWorking", "archivedWorking", "archivedShortTerm"] | str | None
    """Tier of the memory."""
    updated: AwareDatetime | None = None
    """Instant of the last change of its content, tags or metadata."""


class MemoryWithChange(Memory):
    """A memory at an instant. A quarantined row has its reason in `quarantined`, and null for fields that are not known."""

    model_config = ConfigDict(
        use_attribute_docstrings=True,
    )
    change: str | None = None
    """The change that the write made, if it made one: at_least of a recall that must include it."""


class NewMemory(Model):
    """Request to store a memory."""

    model_config = ConfigDict(
        extra="forbid",
        use_attribute_docstrings=True,
    )
    at: AwareDatetime | None = None
    """Instant of the write; needs the right admin."""
    content: str
    """Text of the memory: not blank, at most 65536 bytes."""
    embedding: list[float] | None = None
    """Embedding of the text, with embedding.dimensions numbers; not allowed if that is not set."""
    id: str | None = None
    """Id; default a new one."""
    instance: str | None = None
    """Agent instance that creates it."""
    mentions: list[str] = []
    """Names of the entities that it mentions."""
    metadata: dict[str, Any] = {}
    """Fields of the caller's own, at most 4096 bytes as JSON, by which lists and recalls are filtered. A memory that exists keeps its own fields, and new ones are added."""
    pinned: bool = False
    """Whether a new memory is pinned: it does not decay, expire or get promoted. One that exists stays as it is: pin it by pin_memory or POST /v1/memories/{id}/pin."""
    provenance: Provenance | None = None
    """Source of the text; a last line needs a first. A memory that exists keeps its own texts, and its lines are extended."""
    scope: str | None = None
    """Scope of the data."""
    session: str | None = None
    """Session in which it is created."""
    tags: list[str] = []
    """Tags, by which recall finds it too; at most 256 characters each. They are added to those of a memory that exists, at most 256 in all."""


class ObservedAll(Model):
    """Effects of a batch of observations, in the order of the request."""

    model_config = ConfigDict(
        use_attribute_docstrings=True,
    )
    edges: list[WrittenEdge]


class ObservedAllWithChange(ObservedAll):
    """Effects of a batch of observations, in the order of the request."""

    model_config = ConfigDict(
        use_attribute_docstrings=True,
    )
    change: str | None = None
    """The change that the write made, if it made one: at_least of a recall that must include it."""


class Queries(Model):
    """The last recalls of a scope that this process answered."""

    model_config = ConfigDict(
        use_attribute_docstrings=True,
    )
    count: int
    """Number of recalls that are kept, at most 1,000."""
    nodes: list[QueriedNode]
    """The nodes that were in most of them."""
    pairs: list[SeedPair]
    """The nodes that were seeds together in most of them, which primes later recalls."""
    queries: list[PastQuery]
    """The recalls, the newest first."""


class RankComparison(Model):
    """The place of a memory in the ranking of a recall."""

    model_config = ConfigDict(
        use_attribute_docstrings=True,
    )
    last: RankEvidence | None
    """The last hit of the request."""
    own: RankEvidence | None
    """The memory, if it was ranked."""
    ranked: int
    """Number of nodes that were ranked, at most 1,000."""
    seeds: int
    """Number of seeds from which activation spread."""
    top_k: int
    """Maximum number of hits of the request."""
    words: list[QuestionWord]
    """Words of the question that count."""


class RecallSeed(Model):
    """A seed of the search."""

    model_config = ConfigDict(
        use_attribute_docstrings=True,
    )
    evidence: list[SeedEvidence] | None = None
    """Evidence for the seed, with why."""
    id: str
    """Its id."""
    label: str
    """Display text."""
    score: float
    """Score, above 0 and up to 1."""


class Reranked(Model):
    """Response to a request to score rows."""

    model_config = ConfigDict(
        use_attribute_docstrings=True,
    )
    as_of: AwareDatetime | None
    """Instant up to which changes of the graph are included."""
    generation: int
    """Generation of the mirror."""
    held_share: float
    """Share of the eligible nodes that are in memory, 0 to 1."""
    results: list[RerankedRow]
    """A result for each key, in the order of the request."""
    stale: bool
    """Whether a change of the scope is missing that this process has written or seen, or stale_ms exceeds the limit."""
    stale_ms: int
    """Milliseconds since the last refresh from the graph."""
    tick_end: int
    """Number of learned outcomes at its end; if it differs, weights changed during the query."""
    tick_start: int
    """Number of learned outcomes at the start of the query."""
    whole: bool
    """Whether all eligible nodes are in memory; otherwise only the hottest nodes are."""


class ResonateAnswer(Model):
    """Response of resonance."""

    model_config = ConfigDict(
        use_attribute_docstrings=True,
    )
    as_of: AwareDatetime | None
    """Instant up to which changes of the graph are included."""
    dropped_energy: float
    """Sum of the squared amplitudes of pulses dropped because the budget was spent."""
    energy: float
    """Sum of the squared amplitudes of all nodes."""
    flags: list[str]
    """Flags of a truncated, partial or not converged result."""
    generation: int
    """Generation of the graph that answered."""
    held_share: float
    """Share of the eligible nodes that are in memory, 0 to 1."""
    hits: list[ResonateHit]
    """Nodes by amplitude, largest first."""
    nodes_touched: int
    """Number of nodes reached."""
    pulses: int
    """Number of pulses followed."""
    stale: bool
    """Whether a change of the scope is missing that this process has written or seen, or stale_ms exceeds the limit."""
    stale_ms: int
    """Milliseconds since the last refresh from the graph."""
    sympathetic: Sympathy | None = None
    """Nodes that resonate far from every seed, with sympathetic."""
    tick_end: int
    """Number of learned outcomes at its end; if it differs, weights changed during the query."""
    tick_start: int
    """Number of learned outcomes at the start of the query."""
    truncated: bool
    """Whether the result is truncated; the flags that end in truncated name the part."""
    unknown_seeds: list[str]
    """Given ids that are not in the graph."""
    whole: bool
    """Whether all eligible nodes are in memory; otherwise only the hottest nodes are."""


class ScopeDeletion(Model):
    """Response to a deletion of a scope."""

    model_config = ConfigDict(
        use_attribute_docstrings=True,
    )
    dry_run: bool
    """Whether this was a dry run: nothing was written."""
    nodes: dict[str, int]
    """Nodes by label: those that were deleted, or would be."""
    receipt: ScopeReceipt | None
    """The receipt; null of a dry run."""
    relationships_to_others: int | None
    """Of a dry run: relationships between them and rows of others, which stay."""
    scope: str
    """The scope."""
    total: int
    """Number of these nodes."""


class ScopeDeletionWithChange(ScopeDeletion):
    """Response to a deletion of a scope."""

    model_config = ConfigDict(
        use_attribute_docstrings=True,
    )
    change: str | None = None
    """The change that the write made, if it made one: at_least of a recall that must include it."""


class Status(Model):
    """Status of the server."""

    model_config = ConfigDict(
        use_attribute_docstrings=True,
    )
    at: AwareDatetime
    """Instant of the status."""
    attempts: list[OpenAttempt]
    """Unfinished attempts."""
    fallback_tunables: Literal["last_valid", "configuration"] | str | None = None
    """Tunables that are used, while those of the graph are invalid."""
    foreign: ForeignRows
    """Rows of other libraries."""
    jobs: list[Job]
    """The jobs."""
    mirrors: list[MirrorStatus]
    """Mirrors of the graph held in memory, by process."""
    recall_guard: GuardedRecall | None
    """Last result of the recall guard, if its questions were asked."""
    runs: list[OpenRun]
    """Unfinished runs."""
    scratch: bool
    """Whether its time is simulated."""
    server: Server
    """The database."""
    simulated_now: AwareDatetime | None
    """Current simulated time."""
    stopped: str | None
    """Reason that no job can run and no memory can be written."""
    tiers: list[TierCount]
    """Tiers that hold memories."""
    unscheduled: str | None
    """Reason that workers run no job by its schedule."""
    waiting: Waiting
    """Backlog of the jobs."""


class TrailEdge(Model):
    """An edge and its pheromones."""

    model_config = ConfigDict(
        use_attribute_docstrings=True,
    )
    base_cost: float
    """Base cost, without pheromones."""
    cost: float
    """Present cost of the edge."""
    from_: TrailNode = Field(..., alias="from")
    """Start of the edge."""
    recency: float
    """Recency: "walked lately"."""
    success: float
    """Success: "led to good outcomes"."""
    to: TrailNode
    """End of the edge."""
    traversal: float
    """Traversal: "often walked"."""
    type: str
    """Type of the edge."""


class TrailStatus(Model):
    """Pheromones of a place, or of the edges between two."""

    model_config = ConfigDict(
        use_attribute_docstrings=True,
    )
    at: AwareDatetime
    """Instant of the values."""
    cycle: int
    """Cycle of the values."""
    edges: list[TrailEdge]
    """Edges between them."""
    nodes: list[TrailPlace]
    """Places."""


class TrailWritten(Model):
    """Response to a write on trails."""

    model_config = ConfigDict(
        use_attribute_docstrings=True,
    )
    at: AwareDatetime
    """Instant of the write."""
    created: bool | None = None
    """For an event that names a place or an edge: whether it is new."""
    cycle: int
    """Cycle of the event."""
    dry_run: bool
    """Whether this was a dry run: nothing was written."""
    edges: list[TrailEdge]
    """Edges after the event."""
    nodes: list[TrailPlace]
    """Places after the event."""


class TrailWrittenWithChange(TrailWritten):
    """Response to a write on trails."""

    model_config = ConfigDict(
        use_attribute_docstrings=True,
    )
    change: str | None = None
    """The change that the write made, if it made one: at_least of a recall that must include it."""


class WhyNot(Model):
    """Why a memory is not among the hits of a recall, and what would change that. Parts that were not checked are null or empty."""

    model_config = ConfigDict(
        use_attribute_docstrings=True,
    )
    because: list[str]
    """The reason with its figures, a sentence each."""
    excluded_by: list[str]
    """Conditions of the request that it does not fulfil."""
    expiry: Expiry | None
    """Its expiry, if it has expired."""
    flags: list[str]
    """Flags of the recall, as in its response."""
    forgotten_at: AwareDatetime | None
    """Instant of its deletion, if it was forgotten."""
    id: str
    """Id of the memory."""
    memory: Memory | None
    """The memory as it is stored now."""
    mirror: MirrorSearched | None
    """The mirror that was searched."""
    ranking: RankComparison | None
    """Its place in the ranking."""
    reason: (
        Literal[
            "not_stored",
            "forgotten",
            "stub",
            "quarantined",
            "not_live",
            "expired",
            "not_yet_held",
            "not_held",
            "excluded",
            "no_evidence",
            "outranked",
            "not_relevant",
            "hit",
            "searchable",
        ]
        | str
    )
    """First reason that holds."""
    remedies: list[Remedy]
    """Changes by which it would be a hit, or would still be live."""
    scope: str
    """Scope that was searched."""
    stub_of: str | None
    """Memory of which it is the record, if it is a stub."""


class XlrAnswer(Model):
    """Response of XLR."""

    model_config = ConfigDict(
        use_attribute_docstrings=True,
    )
    anti_seeds: list[str]
    """Anti-seeds of the contrast."""
    as_of: AwareDatetime | None
    """Instant up to which changes of the graph are included."""
    flags: list[str]
    """Flags of a truncated, partial or not converged result."""
    generation: int
    """Generation of the graph that answered."""
    held_share: float
    """Share of the eligible nodes that are in memory, 0 to 1."""
    hits: list[XlrHit]
    """Activated nodes by score after contrast, then by activation."""
    nodes_touched: int
    """Number of nodes reached."""
    pulses: int
    """Number of pulses of both waves."""
    slots_read: int
    """Number of relationships read by activation, each direction counted."""
    stale: bool
    """Whether a change of the scope is missing that this process has written or seen, or stale_ms exceeds the limit."""
    stale_ms: int
    """Milliseconds since the last refresh from the graph."""
    tick_end: int
    """Number of learned outcomes at its end; if it differs, weights changed during the query."""
    tick_start: int
    """Number of learned outcomes at the start of the query."""
    truncated: bool
    """Whether the result is truncated; the flags that end in truncated name the part."""
    unknown_seeds: list[str]
    """Given ids that are not in the graph."""
    whole: bool
    """Whether all eligible nodes are in memory; otherwise only the hottest nodes are."""


class CausalAnswer(Model):
    """Response of causal chains."""

    model_config = ConfigDict(
        use_attribute_docstrings=True,
    )
    as_of: AwareDatetime | None
    """Instant up to which changes of the graph are included."""
    flags: list[str]
    """Flags of a truncated, partial or not converged result."""
    generation: int
    """Generation of the graph that answered."""
    held_share: float
    """Share of the eligible nodes that are in memory, 0 to 1."""
    hits: list[CausalHit]
    """Effects or causes of the seeds by the strength of their chain, strongest first."""
    nodes_touched: int
    """Number of nodes that a chain leads to."""
    stale: bool
    """Whether a change of the scope is missing that this process has written or seen, or stale_ms exceeds the limit."""
    stale_ms: int
    """Milliseconds since the last refresh from the graph."""
    tick_end: int
    """Number of learned outcomes at its end; if it differs, weights changed during the query."""
    tick_start: int
    """Number of learned outcomes at the start of the query."""
    truncated: bool
    """Whether the result is truncated; the flags that end in truncated name the part."""
    unknown_seeds: list[str]
    """Given ids that are not in the graph."""
    whole: bool
    """Whether all eligible nodes are in memory; otherwise only the hottest nodes are."""


class Context(Model):
    """The memories that answer a question, as text for a prompt."""

    model_config = ConfigDict(
        use_attribute_docstrings=True,
    )
    as_of: AwareDatetime | None
    """Instant up to which changes of the graph are included."""
    flags: list[str]
    """Flags of the recall, as in its response."""
    generation: int
    """Generation of the mirror that answered."""
    held_share: float
    """Share of the eligible nodes that are in memory, 0 to 1."""
    memories: list[ContextMemory]
    """Memories of the text, in its order."""
    omitted: int
    """Number of hits that did not fit."""
    recall_id: str
    """Id of the recall that found the memories, for outcomes."""
    stale: bool
    """Whether a change of the scope is missing that this process has written or seen, or stale_ms exceeds the limit."""
    stale_ms: int
    """Milliseconds since the last refresh from the graph."""
    text: str
    """
    A line for each memory: instant of its creation (UTC), id in brackets, content. Further lines of a content are
    indented; an empty line stands between sessions.
    """
    tick_end: int
    """Number of learned outcomes at its end; if it differs, weights changed during the query."""
    tick_start: int
    """Number of learned outcomes at the start of the query."""
    tokens: int
    """Estimated number of tokens of the text."""
    truncated: bool
    """Whether hits did not fit or were cut, or the search was truncated."""
    unknown_seeds: list[str]
    """Given seeds that are not in the mirror."""
    whole: bool
    """Whether all eligible nodes are in memory; otherwise only the hottest nodes are."""


class FoundMemories(Model):
    """A page of a search."""

    model_config = ConfigDict(
        use_attribute_docstrings=True,
    )
    cursor: str | None
    """Cursor of the next page; null if this is the last one. A page may be short, and another follow: with conditions on metadata, and after 16 MiB of texts."""
    memories: list[Memory]


class HotEdges(Model):
    """Edges, hottest first."""

    model_config = ConfigDict(
        use_attribute_docstrings=True,
    )
    edges: list[TrailEdge]


class Memories(Model):
    """A page of memories."""

    model_config = ConfigDict(
        use_attribute_docstrings=True,
    )
    memories: list[Memory]


class MemoriesWithCursor(Memories):
    """A page of memories."""

    model_config = ConfigDict(
        use_attribute_docstrings=True,
    )
    cursor: str | None = None
    """Cursor of the next page; none if this is the last."""


class Recall(Model):
    """Response to a recall."""

    model_config = ConfigDict(
        use_attribute_docstrings=True,
    )
    anti_seeds: list[str] = []
    """Anti-seeds of the contrast, with xlr."""
    as_of: AwareDatetime | None
    """Instant up to which changes of the graph are included."""
    counters: RecallCounters
    """Counters of the work done."""
    flags: list[str]
    """Flags of a result that is truncated, not converged, without the embedding of its text (embedding_unavailable), without the write of at_least (change_not_reached), without a hit of the relevance that was requested (nothing_relevant), or without memories that did not fit into memory: all of them (vector_index_unavailable) or some (vector_index_limited)."""
    generation: int
    """Generation of the mirror that answered."""
    held_share: float
    """Share of the eligible nodes that are in memory, 0 to 1."""
    hits: list[Hit]
    """Hits, best first."""
    primed: list[PrimedNode] = Field([], validate_default=True)
    """Nodes added by priming, strongest first."""
    recall_id: str
    """Id of the recall, equal for equal queries of the same state; the server does not store it."""
    seeds: list[RecallSeed]
    """Seeds of the search, strongest first."""
    stale: bool
    """Whether a change of the scope is missing that this process has written or seen, or stale_ms exceeds the limit."""
    stale_ms: int
    """Milliseconds since the last refresh from the graph."""
    tick_end: int
    """Number of learned outcomes at its end; if it differs, weights changed during the query."""
    tick_start: int
    """Number of learned outcomes at the start of the query."""
    truncated: bool
    """Whether the result is truncated; the flags that end in truncated name the part."""
    unknown_seeds: list[str]
    """Given seeds that are not in the mirror."""
    whole: bool
    """Whether all eligible nodes are in memory; otherwise only the hottest nodes are."""
