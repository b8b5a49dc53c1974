"""Operations of the HTTP API: a class for each noun, a method for each operation.

Generated from the OpenAPI document of Ebb by generate.py: do not edit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, Generic, Literal

from . import models
from .request import Call, Noun, Request, lines, new_key, operation


class Attempts(Noun[Call]):
    @operation
    def list(self, *, all: bool | None = None, limit: int | None = None) -> Request[models.Attempts]:
        """List consolidation attempts, open ones first.

        Args:
            all: Whether to include finished attempts.
            limit: Maximum number of items; default 20.
        """
        return Request("GET", "/v1/attempts", models.Attempts, query={"all": all, "limit": limit})


class Context(Noun[Call]):
    @operation
    def compose(
        self,
        *,
        at_least: str | None = None,
        embedding: Sequence[float] | None = None,
        kinds: Sequence[str] | None = None,
        max_tokens: int | None = None,
        metadata: Mapping[str, Any] | None = None,
        min_relevance: float | None = None,
        order: Literal["time", "rank"] | None = None,
        scope: str | None = None,
        seeds: Sequence[models.GivenSeed] | None = None,
        session: str | None = None,
        since: datetime | None = None,
        tags: Sequence[str] | None = None,
        text: str | None = None,
        tiers: Sequence[Literal["working", "shortTerm", "longTerm", "expiredWorking", "archivedWorking", "archivedShortTerm"]]
        | None = None,
        wait_ms: int | None = None,
    ) -> Request[models.Context]:
        """Search memories by question, as text for a prompt.

        A recall whose hits are written as one text of at most max_tokens, each with its date and id. Hits with the
        same text appear once, and memories between hits of one session are added. Contents are untrusted: tell the
        model that they are data. Writes nothing, unless learning from every recall is configured.

        Args:
            at_least: A write that the text must include, as in a recall.
            embedding: Embedding of the query, as in a recall.
            kinds: Only nodes of these labels, such as Memory.
            max_tokens: Maximum number of tokens of the text, by an estimate that is rather too high.
            metadata: Only memories whose metadata fulfils these conditions, as in a recall.
            min_relevance: Least relevance of a memory of the text, as in a recall: of hits, and of those between two
                of them.
            order: Order of the memories in the text.
            scope: Scope of the data.
            seeds: Seeds: ids to start from.
            session: Only memories created in this session.
            since: Only nodes accessed since this instant.
            tags: Only memories with each of these tags.
            text: The question, in plain words. Without a question, seeds or an embedding, nothing is found.
            tiers: Only memories of these tiers: working, shortTerm, longTerm or expiredWorking; default all of them.
            wait_ms: How long it is waited for, milliseconds, as in a recall.
        """
        return Request(
            "POST",
            "/v1/context",
            models.Context,
            body={
                "at_least": at_least,
                "embedding": embedding,
                "kinds": kinds,
                "max_tokens": max_tokens,
                "metadata": metadata,
                "min_relevance": min_relevance,
                "order": order,
                "scope": scope,
                "seeds": seeds,
                "session": session,
                "since": since,
                "tags": tags,
                "text": text,
                "tiers": tiers,
                "wait_ms": wait_ms,
            },
            scope="body",
        )


class Engine(Noun[Call]):
    @operation
    def activate(
        self,
        seeds: Sequence[models.GivenSeed],
        *,
        depth: int | None = None,
        profile: Literal["recall", "reference"] | None = None,
        scope: str | None = None,
        top_k: int | None = None,
    ) -> Request[models.EngineAnswer]:
        """Activate nodes from seeds, without text.

        Args:
            seeds: Seeds: ids to start from.
            depth: Maximum number of hops; default that of the profile.
            profile: Profile: the rule by which activation spreads.
            scope: Scope of the data.
            top_k: Maximum number of nodes.
        """
        return Request(
            "POST",
            "/v1/engine/activate",
            models.EngineAnswer,
            body={"depth": depth, "profile": profile, "scope": scope, "seeds": seeds, "top_k": top_k},
            scope="body",
        )

    @operation
    def look_around(
        self,
        ids: Sequence[str],
        *,
        at: datetime | None = None,
        depth: int | None = None,
        limit: int | None = None,
        scope: str | None = None,
    ) -> Request[models.AroundAnswer]:
        """Show the nodes around some nodes, and the relationships among them.

        The graph comes from the mirror, energies of memories from the database, at the instant at. A node that is not
        in the mirror is named in unknown_seeds.

        Args:
            ids: Ids of the nodes; for an entity its name.
            at: Instant of the energies; default now.
            depth: Maximum number of relationships from the nearest of these nodes; with 0 only these nodes.
            limit: Maximum number of nodes, with these.
            scope: Scope of the data.
        """
        return Request(
            "POST",
            "/v1/engine/around",
            models.AroundAnswer,
            body={"at": at, "depth": depth, "ids": ids, "limit": limit, "scope": scope},
            scope="body",
        )

    @operation
    def follow_causes(
        self,
        seeds: Sequence[models.GivenSeed],
        *,
        depth: int | None = None,
        direction: Literal["effects", "causes"] | None = None,
        scope: str | None = None,
        top_k: int | None = None,
    ) -> Request[models.CausalAnswer]:
        """Follow causal chains from seeds to their effects or causes.

        Follows relationships of the types and predicates in engine.causal. causal_truncated: more than 10,000 chains
        were found; the strongest are returned.

        Args:
            seeds: Seeds: ids to start from.
            depth: Maximum number of relationships of a chain.
            direction: Direction: the effects of the seeds (default), or their causes.
            scope: Scope of the data.
            top_k: Maximum number of nodes.
        """
        return Request(
            "POST",
            "/v1/engine/causal",
            models.CausalAnswer,
            body={"depth": depth, "direction": direction, "scope": scope, "seeds": seeds, "top_k": top_k},
            scope="body",
        )

    @operation
    def find_communities(
        self,
        *,
        members: int | None = None,
        node: str | None = None,
        resolution: float | None = None,
        scope: str | None = None,
        top_k: int | None = None,
    ) -> Request[models.CommunitiesAnswer]:
        """Find communities, and the nodes that link them.

        Reads the whole graph: seconds for a million nodes. At resolution 1, the result is cached until the graph
        changes. At most 10,000 members are returned in all; left_out counts the others.

        Args:
            members: Maximum number of members of each; default 5, and 20 for the community of a node.
            node: Id of a node, to return only its community and its links to others.
            resolution: Resolution, above 0; above 1 communities get smaller.
            scope: Scope of the data.
            top_k: Maximum number of communities.
        """
        return Request(
            "POST",
            "/v1/engine/communities",
            models.CommunitiesAnswer,
            body={"members": members, "node": node, "resolution": resolution, "scope": scope, "top_k": top_k},
            scope="body",
        )

    @operation
    def read_harmonics(
        self,
        seeds: Sequence[models.GivenSeed],
        *,
        frequency: float | None = None,
        hops: int | None = None,
        pulses: int | None = None,
        scope: str | None = None,
        top_k: int | None = None,
        wavelength: float | None = None,
    ) -> Request[models.HarmonicsAnswer]:
        """Run waves from seeds and read them at all frequencies.

        Args:
            seeds: Seeds of the waves: ids with amplitudes.
            frequency: Base frequency of the harmonics, above 0.
            hops: Maximum number of relationships that a wave crosses.
            pulses: Maximum number of pulses; default 50,000.
            scope: Scope of the data.
            top_k: Maximum number of nodes for each harmonic.
            wavelength: Wavelength at frequency 1, in relationships, above 0; default 16.
        """
        return Request(
            "POST",
            "/v1/engine/harmonics",
            models.HarmonicsAnswer,
            body={
                "frequency": frequency,
                "hops": hops,
                "pulses": pulses,
                "scope": scope,
                "seeds": seeds,
                "top_k": top_k,
                "wavelength": wavelength,
            },
            scope="body",
        )

    @operation
    def rank(
        self, *, scope: str | None = None, seeds: Sequence[models.GivenSeed] | None = None, top_k: int | None = None
    ) -> Request[models.EngineAnswer]:
        """Rank nodes by PageRank, globally or from seeds.

        Args:
            scope: Scope of the data.
            seeds: Seeds of personalised PageRank; empty for global PageRank.
            top_k: Maximum number of nodes.
        """
        return Request(
            "POST", "/v1/engine/pagerank", models.EngineAnswer, body={"scope": scope, "seeds": seeds, "top_k": top_k}, scope="body"
        )

    @operation
    def list_queries(self, *, limit: int | None = None, scope: str | None = None) -> Request[models.Queries]:
        """Show the last recalls of a scope: texts, times, nodes and pairs of seeds.

        The last 1,000 recalls of the scope that this process answered; they are not stored. Texts are those of all
        callers, hence admin.

        Args:
            limit: Maximum number of queries, of nodes and of pairs.
            scope: Scope of the data.
        """
        return Request("GET", "/v1/engine/queries", models.Queries, query={"limit": limit, "scope": scope}, scope="query")

    @operation
    def resonate(
        self,
        seeds: Sequence[models.GivenSeed],
        *,
        frequency: float | None = None,
        hops: int | None = None,
        pulses: int | None = None,
        scope: str | None = None,
        sympathetic: bool | None = None,
        top_k: int | None = None,
        wavelength: float | None = None,
    ) -> Request[models.ResonateAnswer]:
        """Run waves from seeds and read them at one frequency.

        With sympathetic, the communities of the whole graph are computed, once for each generation: seconds for a
        million nodes.

        Args:
            seeds: Seeds of the waves: ids with amplitudes.
            frequency: Frequency of the reading, above 0.
            hops: Maximum number of relationships that a wave crosses.
            pulses: Maximum number of pulses; default 50,000.
            scope: Scope of the data.
            sympathetic: Whether to return the nodes that resonate far from every seed.
            top_k: Maximum number of nodes in each list.
            wavelength: Wavelength at frequency 1, in relationships, above 0; default 16.
        """
        return Request(
            "POST",
            "/v1/engine/resonate",
            models.ResonateAnswer,
            body={
                "frequency": frequency,
                "hops": hops,
                "pulses": pulses,
                "scope": scope,
                "seeds": seeds,
                "sympathetic": sympathetic,
                "top_k": top_k,
                "wavelength": wavelength,
            },
            scope="body",
        )

    @operation
    def contrast(
        self, seeds: Sequence[models.GivenSeed], *, scope: str | None = None, top_k: int | None = None
    ) -> Request[models.XlrAnswer]:
        """Activate nodes from seeds and contrast them with other parts of the graph (XLR).

        Spreads with the profile of recall. score is the activation after contrast.

        Args:
            seeds: Seeds: ids to start from.
            scope: Scope of the data.
            top_k: Maximum number of nodes.
        """
        return Request("POST", "/v1/engine/xlr", models.XlrAnswer, body={"scope": scope, "seeds": seeds, "top_k": top_k}, scope="body")


class Facts(Noun[Call]):
    @operation
    def list(
        self,
        *,
        cursor: str | None = None,
        entity: str | None = None,
        history: bool | None = None,
        limit: int | None = None,
        relation: str | None = None,
        scope: Literal["local", "team", "company", "public"] | None = None,
    ) -> Request[models.FactsWithCursor]:
        """List facts: the latest of each tuple, or all.

        Includes facts of confidence 0, which a source or a sweep retracted. The default limit is 100; the Link header
        points to the next page.

        Args:
            cursor: Cursor from the Link header of the previous page.
            entity: Only facts about this entity.
            history: Whether to include superseded facts.
            limit: Maximum number of items in the page.
            relation: Only facts of this relation.
            scope: Scope of the facts: local, team, company or public; default the only scope of the key, otherwise
                local.
        """
        return Request(
            "GET",
            "/v1/facts",
            models.FactsWithCursor,
            query={"cursor": cursor, "entity": entity, "history": history, "limit": limit, "relation": relation, "scope": scope},
        )

    @operation
    def add(
        self,
        *,
        entity: str,
        relation: str,
        source: str,
        value: str | float | bool,
        at: datetime | None = None,
        confidence: float | None = None,
        scope: Literal["local", "team", "company", "public"] | None = None,
        valid_until: datetime | None = None,
        idempotency_key: str | None = None,
    ) -> Request[models.AssertedFactWithChange]:
        """Assert a fact about an entity; earlier facts are kept.

        Sources that begin with system: are reserved for Ebb and refused with 403.

        Args:
            entity: Entity that the fact is about.
            relation: Relation of the fact, such as roadmap:status.
            source: Source of the fact.
            value: Value of the fact.
            at: Instant of the write; needs the right admin.
            confidence: Confidence, 0 to 1; default 1.
            scope: Scope of the fact: local, team, company or public; default the only scope of the key, otherwise
                local.
            valid_until: Last instant at which the fact is valid.
            idempotency_key: Writes with the same key take effect once in 24 hours; default a new key.
        """
        return Request(
            "POST",
            "/v1/facts",
            models.AssertedFactWithChange,
            body={
                "at": at,
                "confidence": confidence,
                "entity": entity,
                "relation": relation,
                "scope": scope,
                "source": source,
                "valid_until": valid_until,
                "value": value,
            },
            idempotency_key=idempotency_key or new_key(),
        )

    @operation
    def add_batch(self, items: Sequence[models.Assertion], *, idempotency_key: str | None = None) -> Request[models.AssertedAllWithChange]:
        """Assert facts in order, all or none.

        Args:
            items: The items of the batch.
            idempotency_key: Writes with the same key take effect once in 24 hours; default a new key.
        """
        return Request(
            "POST", "/v1/facts:batch", models.AssertedAllWithChange, body=list(items), idempotency_key=idempotency_key or new_key()
        )


class Health(Noun[Call]):
    @operation
    def get(self, *, at: datetime | None = None) -> Request[models.Health]:
        """Show health: memories and energies by tier, stuck attempts, backlog.

        Args:
            at: Instant to evaluate at; default now.
        """
        return Request("GET", "/v1/health", models.Health, query={"at": at})


class Jobs(Noun[Call]):
    @operation
    def list(self) -> Request[models.Jobs]:
        """List jobs with schedule, last run and lag."""
        return Request("GET", "/v1/jobs", models.Jobs)

    @operation
    def list_runs(
        self,
        *,
        job: Literal["audit", "decay", "coactivate", "cluster", "embed", "reinforce", "promote", "evaporate", "fade", "sweep", "learn"]
        | None = None,
        limit: int | None = None,
    ) -> Request[models.JobHistory]:
        """List past runs of jobs, newest first, and the jobs that wait for one.

        The ledger keeps runs as long as retention.runs says.

        Args:
            job: Only runs of this job.
            limit: Maximum number of runs; default 50.
        """
        return Request("GET", "/v1/jobs/history", models.JobHistory, query={"job": job, "limit": limit})

    @operation
    def run(
        self,
        name: Literal["audit", "decay", "coactivate", "cluster", "embed", "reinforce", "promote", "evaporate", "fade", "sweep", "learn"],
        *,
        accept_affected: int | None = None,
        at: datetime | None = None,
        dry_run: bool | None = None,
        limit: int | None = None,
        idempotency_key: str | None = None,
    ) -> Request[models.JobRunWithChange]:
        """Run a job now.

        The run does not replace a scheduled one. It is skipped while another run of the job is in progress. 409 if
        the guard stops a sweep; to accept, repeat the number that it names in accept_affected.

        Args:
            name: Its name.
            accept_affected: Number of facts that the guard named, to accept it: of the job sweep alone.
            at: Instant to use as now; needs the right admin.
            dry_run: Whether this is a dry run: nothing is written.
            limit: Stop after about this many rows.
            idempotency_key: Writes with the same key take effect once in 24 hours; default a new key.
        """
        return Request(
            "POST",
            "/v1/jobs/{name}/run",
            models.JobRunWithChange,
            path_parts={"name": name},
            body={"accept_affected": accept_affected, "at": at, "dry_run": dry_run, "limit": limit},
            idempotency_key=idempotency_key or new_key(),
        )


class Memories(Noun[Call]):
    @operation
    def access_batch(self, items: Sequence[models.Access], *, idempotency_key: str | None = None) -> Request[models.DoneAllWithChange]:
        """Access memories in order, all or none.

        Args:
            items: The items of the batch.
            idempotency_key: Writes with the same key take effect once in 24 hours; default a new key.
        """
        return Request(
            "POST",
            "/v1/accesses:batch",
            models.DoneAllWithChange,
            body=list(items),
            scope="items",
            idempotency_key=idempotency_key or new_key(),
        )

    @operation
    def duplicates(
        self, *, limit: int | None = None, min_similarity: float | None = None, scope: str | None = None
    ) -> Request[models.Duplicates]:
        """List groups of memories that say nearly the same in the same words.

        Each group has the memory to keep (pinned, else of the highest tier, else with the most energy) and its
        duplicates. Reads the texts of at most 50,000 live memories, and 4,000,000 words and pairs of words, from the
        database; writes nothing. To merge a group: /v1/memories/{id}/merge.

        Args:
            limit: Most groups, 1 to 1000; default 100.
            min_similarity: Least similarity of a duplicate to the memory to keep, 0.3 to 1; default 0.8.
            scope: Scope of the data.
        """
        return Request(
            "GET",
            "/v1/duplicates",
            models.Duplicates,
            query={"limit": limit, "min_similarity": min_similarity, "scope": scope},
            scope="query",
        )

    @operation
    def list(
        self,
        *,
        at: datetime | None = None,
        cursor: str | None = None,
        limit: int | None = None,
        scope: str | None = None,
        session: str | None = None,
        tier: Literal["working", "shortTerm", "longTerm", "expiredWorking", "archivedWorking", "archivedShortTerm"] | None = None,
    ) -> Request[models.MemoriesWithCursor]:
        """List memories by id, with their current energy.

        The default limit is 100; the Link header points to the next page.

        Args:
            at: Instant to evaluate at; default now.
            cursor: Cursor from the Link header of the previous page.
            limit: Maximum number of items in the page.
            scope: Scope of the data.
            session: Only memories created in this session.
            tier: Only memories of this tier; default all: expiredWorking too. The stubs of promotions
                (archivedWorking, archivedShortTerm) are never listed.
        """
        return Request(
            "GET",
            "/v1/memories",
            models.MemoriesWithCursor,
            query={"at": at, "cursor": cursor, "limit": limit, "scope": scope, "session": session, "tier": tier},
            scope="query",
        )

    @operation
    def add(
        self,
        content: str,
        *,
        at: datetime | None = None,
        embedding: Sequence[float] | None = None,
        id: str | None = None,
        instance: str | None = None,
        mentions: Sequence[str] | None = None,
        metadata: Mapping[str, Any] | None = None,
        pinned: bool | None = None,
        provenance: models.Provenance | None = None,
        scope: str | None = None,
        session: str | None = None,
        tags: Sequence[str] | None = None,
        idempotency_key: str | None = None,
    ) -> Request[models.MemoryWithChange]:
        """Store a memory.

        201 if it is new, 200 if the id exists with the same content, which counts as an access. Its tags and its
        provenance are then merged with the given ones; 409 if that makes more than 256 tags.

        Args:
            content: Text of the memory: not blank, at most 65536 bytes.
            at: Instant of the write; needs the right admin.
            embedding: Embedding of the text, with embedding.dimensions numbers; not allowed if that is not set.
            id: Id; default a new one.
            instance: Agent instance that creates it.
            mentions: Names of the entities that it mentions.
            metadata: Fields of the caller's own, at most 4096 bytes as JSON, by which lists and recalls are filtered.
                A memory that exists keeps its own fields, and new ones are added.
            pinned: Whether a new memory is pinned: it does not decay, expire or get promoted. One that exists stays
                as it is: pin it by pin_memory or POST /v1/memories/{id}/pin.
            provenance: Source of the text; a last line needs a first. A memory that exists keeps its own texts, and
                its lines are extended.
            scope: Scope of the data.
            session: Session in which it is created.
            tags: Tags, by which recall finds it too; at most 256 characters each. They are added to those of a memory
                that exists, at most 256 in all.
            idempotency_key: Writes with the same key take effect once in 24 hours; default a new key.
        """
        return Request(
            "POST",
            "/v1/memories",
            models.MemoryWithChange,
            body={
                "at": at,
                "content": content,
                "embedding": embedding,
                "id": id,
                "instance": instance,
                "mentions": mentions,
                "metadata": metadata,
                "pinned": pinned,
                "provenance": provenance,
                "scope": scope,
                "session": session,
                "tags": tags,
            },
            scope="body",
            idempotency_key=idempotency_key or new_key(),
        )

    @operation
    def delete(self, id: str, *, scope: str | None = None, idempotency_key: str | None = None) -> Request[models.ForgottenWithChange]:
        """Delete a memory permanently, with its versions and stubs.

        Args:
            id: Id of the memory.
            scope: Scope of the data.
            idempotency_key: Writes with the same key take effect once in 24 hours; default a new key.
        """
        return Request(
            "DELETE",
            "/v1/memories/{id}",
            models.ForgottenWithChange,
            path_parts={"id": id},
            query={"scope": scope},
            scope="query",
            idempotency_key=idempotency_key or new_key(),
        )

    @operation
    def get(self, id: str, *, at: datetime | None = None, scope: str | None = None) -> Request[models.Memory]:
        """Show a memory.

        Args:
            id: Id of the memory.
            at: Instant to evaluate at; default now.
            scope: Scope of the data.
        """
        return Request("GET", "/v1/memories/{id}", models.Memory, path_parts={"id": id}, query={"at": at, "scope": scope}, scope="query")

    @operation
    def update(
        self,
        id: str,
        *,
        at: datetime | None = None,
        content: str | None = None,
        embedding: Sequence[float] | None = None,
        metadata: Mapping[str, Any] | None = None,
        scope: str | None = None,
        tags: Sequence[str] | None = None,
        idempotency_key: str | None = None,
    ) -> Request[models.MemoryWithChange]:
        """Change the text, the tags or the metadata of a memory.

        What is left out stays as it is. What the memory was stays readable under versions. This is no access: energy
        and tier stay as they are.

        Args:
            id: Id of the memory.
            at: Instant of the write; needs the right admin.
            content: New text, all of it: not blank, at most 65536 bytes. The embedding of the former text is removed.
            embedding: Embedding of the text, with embedding.dimensions numbers.
            metadata: Fields of the metadata to change: null removes a field, an object is merged into that of the
                field (RFC 7396).
            scope: Scope of the data.
            tags: New tags, in place of the former ones.
            idempotency_key: Writes with the same key take effect once in 24 hours; default a new key.
        """
        return Request(
            "PATCH",
            "/v1/memories/{id}",
            models.MemoryWithChange,
            path_parts={"id": id},
            body={"at": at, "content": content, "embedding": embedding, "metadata": metadata, "scope": scope, "tags": tags},
            scope="body",
            idempotency_key=idempotency_key or new_key(),
        )

    @operation
    def access(
        self,
        id: str,
        *,
        at: datetime | None = None,
        instance: str | None = None,
        revive: bool | None = None,
        scope: str | None = None,
        session: str | None = None,
        idempotency_key: str | None = None,
    ) -> Request[models.MemoryWithChange]:
        """Access a memory: add 1 to its energy, and revive it if expired.

        Args:
            id: Id of the memory.
            at: Instant of the write; needs the right admin.
            instance: Agent instance that accesses it; accepted and not kept.
            revive: Whether to revive an expired memory; default true.
            scope: Scope of the data.
            session: Session of the access.
            idempotency_key: Writes with the same key take effect once in 24 hours; default a new key.
        """
        return Request(
            "POST",
            "/v1/memories/{id}/access",
            models.MemoryWithChange,
            path_parts={"id": id},
            body={"at": at, "instance": instance, "revive": revive, "scope": scope, "session": session},
            scope="body",
            idempotency_key=idempotency_key or new_key(),
        )

    @operation
    def explain(
        self, id: str, *, at: datetime | None = None, curve: bool | None = None, scope: str | None = None
    ) -> Request[models.Explained]:
        """Explain the state of a memory and its next threshold crossings.

        Args:
            id: Id of the memory.
            at: Instant to evaluate at; default now.
            curve: Whether to return the course of its energy.
            scope: Scope of the data.
        """
        return Request(
            "GET",
            "/v1/memories/{id}/explain",
            models.Explained,
            path_parts={"id": id},
            query={"at": at, "curve": curve, "scope": scope},
            scope="query",
        )

    @operation
    def merge(
        self,
        id: str,
        duplicates: Sequence[str],
        *,
        at: datetime | None = None,
        dry_run: bool | None = None,
        scope: str | None = None,
        idempotency_key: str | None = None,
    ) -> Request[models.MemoryWithChange]:
        """Merge memories that say the same into one, and delete them.

        The kept memory gets the energies, accesses, tags, metadata and mentions of all; its own fields of metadata
        win. The texts of the others stay readable among its versions. Other relationships and learned weights of
        these are deleted.

        Args:
            id: Id of the memory.
            duplicates: Ids of the memories to merge into it, at most 50.
            at: Instant of the write; needs the right admin.
            dry_run: Roll back at the end.
            scope: Scope of the data.
            idempotency_key: Writes with the same key take effect once in 24 hours; default a new key.
        """
        return Request(
            "POST",
            "/v1/memories/{id}/merge",
            models.MemoryWithChange,
            path_parts={"id": id},
            body={"at": at, "dry_run": dry_run, "duplicates": duplicates, "scope": scope},
            scope="body",
            idempotency_key=idempotency_key or new_key(),
        )

    @operation
    def unpin(self, id: str, *, scope: str | None = None, idempotency_key: str | None = None) -> Request[models.MemoryWithChange]:
        """Unpin a memory: let it decay again from now on.

        Args:
            id: Id of the memory.
            scope: Scope of the data.
            idempotency_key: Writes with the same key take effect once in 24 hours; default a new key.
        """
        return Request(
            "DELETE",
            "/v1/memories/{id}/pin",
            models.MemoryWithChange,
            path_parts={"id": id},
            query={"scope": scope},
            scope="query",
            idempotency_key=idempotency_key or new_key(),
        )

    @operation
    def pin(
        self, id: str, *, at: datetime | None = None, scope: str | None = None, idempotency_key: str | None = None
    ) -> Request[models.MemoryWithChange]:
        """Pin a memory: stop its decay, expiry and promotion.

        Args:
            id: Id of the memory.
            at: Instant of the write; needs the right admin.
            scope: Scope of the data.
            idempotency_key: Writes with the same key take effect once in 24 hours; default a new key.
        """
        return Request(
            "POST",
            "/v1/memories/{id}/pin",
            models.MemoryWithChange,
            path_parts={"id": id},
            body={"at": at, "scope": scope},
            scope="body",
            idempotency_key=idempotency_key or new_key(),
        )

    @operation
    def list_versions(self, id: str, *, scope: str | None = None) -> Request[models.Versions]:
        """Show what a memory was before each change.

        Args:
            id: Id of the memory.
            scope: Scope of the data.
        """
        return Request("GET", "/v1/memories/{id}/versions", models.Versions, path_parts={"id": id}, query={"scope": scope}, scope="query")

    @operation
    def explain_absence(
        self,
        id: str,
        *,
        at_least: str | None = None,
        content: bool | None = None,
        dimensions: Sequence[Literal["structural", "semantic", "temporal", "causal"]] | None = None,
        embedding: Sequence[float] | None = None,
        kinds: Sequence[str] | None = None,
        metadata: Mapping[str, Any] | None = None,
        min_relevance: float | None = None,
        priming: bool | None = None,
        profile: Literal["recall", "reference"] | None = None,
        scope: str | None = None,
        seed_mass: Literal["keep", "subtract"] | None = None,
        seeds: Sequence[models.GivenSeed] | None = None,
        session: str | None = None,
        since: datetime | None = None,
        spread: Literal["activation", "ppr"] | None = None,
        tags: Sequence[str] | None = None,
        text: str | None = None,
        tiers: Sequence[Literal["working", "shortTerm", "longTerm", "expiredWorking", "archivedWorking", "archivedShortTerm"]]
        | None = None,
        top_k: int | None = None,
        wait_ms: int | None = None,
        why: bool | None = None,
        words: bool | None = None,
        xlr: Literal["off", "gate", "report"] | None = None,
    ) -> Request[models.WhyNot]:
        """Explain why a memory is not among the hits of a recall, or why it is gone.

        The body is a request of /v1/recall; without a question, the answer concerns the memory alone. It ends at the
        first reason: not stored, forgotten, expired, not in the mirror, excluded by conditions, or ranked lower.
        Writes nothing, and counts neither as a recall nor as an access.

        Args:
            id: Id of the memory.
            at_least: A write that the hits must include: `change` of its answer. The recall waits for it, at most
                wait_ms, which is 1 s over MCP; if that is not enough, the answer has the flag change_not_reached: ask
                again.
            content: Whether to return the text of memories, which is read from the database.
            dimensions: Kinds of evidence to use; default engine.dimensions.
            embedding: Embedding of the query, with embedding.dimensions numbers: memories whose embeddings are
                similar are found, too. A configured embedder embeds the text of a query without one.
            kinds: Only nodes of these labels, such as Memory.
            metadata: Only memories whose metadata fulfils these conditions: a field and its value, null for a missing
                field, or bounds such as {"$gte": 2020, "$lt": 2024}. The key is the path of the field, such as
                user.age.
            min_relevance: Least relevance of a hit. Less relevant hits are left out, as are nodes without a text, so
                that there may be fewer hits or none: then the answer has the flag nothing_relevant.
            priming: Whether to add nodes that were seeds together with these in earlier queries; default
                engine.priming.
            profile: Profile: the rule by which activation spreads.
            scope: Scope of the data.
            seed_mass: Whether a seed keeps its initial value.
            seeds: Seeds: ids to start from, such as the results of a vector index.
            session: Only memories created in this session.
            since: Only nodes accessed since this instant.
            spread: Method of spreading from the seeds.
            tags: Only memories with each of these tags.
            text: The question, in plain words. Without a question, seeds or an embedding, nothing is found.
            tiers: Only memories of these tiers: working, shortTerm, longTerm or expiredWorking; default all of them.
            top_k: Maximum number of hits.
            wait_ms: How long it waits for that write, milliseconds.
            why: Whether to return the evidence for each seed and the relationships of the path to each hit.
            words: Whether to rank by the text of memories too.
            xlr: Effect of the contrast with other parts of the graph; default engine.xlr.
        """
        return Request(
            "POST",
            "/v1/memories/{id}/why-not",
            models.WhyNot,
            path_parts={"id": id},
            body={
                "at_least": at_least,
                "content": content,
                "dimensions": dimensions,
                "embedding": embedding,
                "kinds": kinds,
                "metadata": metadata,
                "min_relevance": min_relevance,
                "priming": priming,
                "profile": profile,
                "scope": scope,
                "seed_mass": seed_mass,
                "seeds": seeds,
                "session": session,
                "since": since,
                "spread": spread,
                "tags": tags,
                "text": text,
                "tiers": tiers,
                "top_k": top_k,
                "wait_ms": wait_ms,
                "why": why,
                "words": words,
                "xlr": xlr,
            },
            scope="body",
        )

    @operation
    def add_batch(self, items: Sequence[models.NewMemory], *, idempotency_key: str | None = None) -> Request[models.DoneAllWithChange]:
        """Store memories in order, all or none.

        Args:
            items: The items of the batch.
            idempotency_key: Writes with the same key take effect once in 24 hours; default a new key.
        """
        return Request(
            "POST",
            "/v1/memories:batch",
            models.DoneAllWithChange,
            body=list(items),
            scope="items",
            idempotency_key=idempotency_key or new_key(),
        )

    @operation
    def delete_where(
        self,
        filter: Mapping[str, Any],
        *,
        accept_affected: int | None = None,
        dry_run: bool | None = None,
        scope: str | None = None,
        idempotency_key: str | None = None,
    ) -> Request[models.ForgottenMemoriesWithChange]:
        """Delete memories that fulfil conditions permanently, with their stubs.

        At most 1,000 at once, all or none; left says how many are left. 409 if they are more than a fifth of the
        scope and more than 50: the answer names the number to send as accept_affected.

        Args:
            filter: Conditions on the memories, at least one.
            accept_affected: The number that the guard named, to delete so many.
            dry_run: Whether to count only.
            scope: Scope of the data.
            idempotency_key: Writes with the same key take effect once in 24 hours; default a new key.
        """
        return Request(
            "POST",
            "/v1/memories:forget",
            models.ForgottenMemoriesWithChange,
            body={"accept_affected": accept_affected, "dry_run": dry_run, "filter": filter, "scope": scope},
            scope="body",
            idempotency_key=idempotency_key or new_key(),
        )

    @operation
    def search(
        self,
        *,
        at: datetime | None = None,
        cursor: str | None = None,
        filter: Mapping[str, Any] | None = None,
        limit: int | None = None,
        scope: str | None = None,
        sort: Literal["id", "newest"] | None = None,
    ) -> Request[models.FoundMemories]:
        """List memories that fulfil conditions.

        Conditions are on tier, session, tags, text, metadata and creation. Reads the database, not the mirror, and
        counts as no access; to search by meaning: /v1/recall. Repeat the request with the cursor of the answer for
        the next page, until it is null: a page may be short, with conditions on metadata and after 16 MiB of texts.

        Args:
            at: Instant to evaluate at; default now.
            cursor: Cursor of the page before.
            filter: Conditions on the memories.
            limit: Maximum number of memories in the page; default 100.
            scope: Scope of the data.
            sort: Order of the memories.
        """
        return Request(
            "POST",
            "/v1/memories:search",
            models.FoundMemories,
            body={"at": at, "cursor": cursor, "filter": filter, "limit": limit, "scope": scope, "sort": sort},
            scope="body",
        )


class Mirrors(Noun[Call]):
    @operation
    def get(self, *, scope: str | None = None) -> Request[models.Mirror]:
        """Show the in-memory mirror of a scope and its freshness.

        Args:
            scope: Scope of the data.
        """
        return Request("GET", "/v1/mirror", models.Mirror, query={"scope": scope}, scope="query")

    @operation
    def refresh(self, *, scope: str | None = None) -> Request[models.MirrorWithChange]:
        """Refresh the in-memory mirror of a scope.

        Reads what was written since the last refresh. Writes of Ebb need none, see at_least of /v1/recall; rows of
        adopted libraries are otherwise read at mirror.refresh. Changes of other programs to rows of Ebb have no
        record: `ebb graph refresh` reads them, and a daily comparison.

        Args:
            scope: Scope of the data.
        """
        return Request("POST", "/v1/mirror/refresh", models.MirrorWithChange, query={"scope": scope}, scope="query")


class Outcomes(Noun[Call]):
    @operation
    def report(
        self,
        *,
        recall_id: str,
        reward: float,
        used: Sequence[models.UsedHit],
        access: bool | None = None,
        at: datetime | None = None,
        scope: str | None = None,
        idempotency_key: str | None = None,
    ) -> Request[models.OutcomeWithChange]:
        """Report which hits of a recall were useful, and their reward.

        Counts as an access to the memories among them, unless access is false. Strengthens the connections between
        the nodes of the paths, and deposits success on the edges that carry pheromones, most near the seeds. Recalls
        are not stored, so send each path as the response returned it. Nodes and edges that no longer exist are
        skipped and counted.

        Args:
            recall_id: recall_id of the response.
            reward: Reward for all hits together, above 0 and at most 10; above 1 it only increases deposits on
                trails.
            used: Useful hits, each once.
            access: Whether the memories among the hits are accessed; default true. False if they were accessed on
                their own.
            at: Instant of the write; needs the right admin.
            scope: Scope of the data.
            idempotency_key: Writes with the same key take effect once in 24 hours; default a new key.
        """
        return Request(
            "POST",
            "/v1/outcomes",
            models.OutcomeWithChange,
            body={"access": access, "at": at, "recall_id": recall_id, "reward": reward, "scope": scope, "used": used},
            scope="body",
            idempotency_key=idempotency_key or new_key(),
        )


class Policies(Noun[Call]):
    @operation
    def list(self) -> Request[models.DecayPolicies]:
        """List the decay policies in force."""
        return Request("GET", "/v1/decay/policies", models.DecayPolicies)

    @operation
    def delete(self, id: str, *, idempotency_key: str | None = None) -> Request[models.RemovedPolicyWithChange]:
        """Remove a decay policy.

        Args:
            id: Its id.
            idempotency_key: Writes with the same key take effect once in 24 hours; default a new key.
        """
        return Request(
            "DELETE",
            "/v1/decay/policies/{id}",
            models.RemovedPolicyWithChange,
            path_parts={"id": id},
            idempotency_key=idempotency_key or new_key(),
        )

    @operation
    def set(
        self,
        id: str,
        *,
        mode: Literal["retract", "confidence", "dry_run"],
        relation: str,
        scope: Literal["local", "team", "company", "public", "*"],
        exempt_relations: Sequence[str] | None = None,
        half_life_s: float | None = None,
        min_confidence: float | None = None,
        ttl_s: float | None = None,
        idempotency_key: str | None = None,
    ) -> Request[models.ChangedPolicyWithChange]:
        """Set a decay policy, replacing one with the same id.

        201 if it is new. The first change writes the policies of the configuration into the graph; from then on the
        policies of the graph are in force.

        Args:
            id: Its id.
            mode:
            relation: Pattern of relations; * matches any characters.
            scope: Scope, or * for every scope.
            exempt_relations:
            half_life_s:
            min_confidence:
            ttl_s:
            idempotency_key: Writes with the same key take effect once in 24 hours; default a new key.
        """
        return Request(
            "PUT",
            "/v1/decay/policies/{id}",
            models.ChangedPolicyWithChange,
            path_parts={"id": id},
            body={
                "exempt_relations": exempt_relations,
                "half_life_s": half_life_s,
                "min_confidence": min_confidence,
                "mode": mode,
                "relation": relation,
                "scope": scope,
                "ttl_s": ttl_s,
            },
            idempotency_key=idempotency_key or new_key(),
        )


class Recall(Noun[Call]):
    @operation
    def run(
        self,
        *,
        at_least: str | None = None,
        content: bool | None = None,
        dimensions: Sequence[Literal["structural", "semantic", "temporal", "causal"]] | None = None,
        embedding: Sequence[float] | None = None,
        kinds: Sequence[str] | None = None,
        metadata: Mapping[str, Any] | None = None,
        min_relevance: float | None = None,
        priming: bool | None = None,
        profile: Literal["recall", "reference"] | None = None,
        scope: str | None = None,
        seed_mass: Literal["keep", "subtract"] | None = None,
        seeds: Sequence[models.GivenSeed] | None = None,
        session: str | None = None,
        since: datetime | None = None,
        spread: Literal["activation", "ppr"] | None = None,
        tags: Sequence[str] | None = None,
        text: str | None = None,
        tiers: Sequence[Literal["working", "shortTerm", "longTerm", "expiredWorking", "archivedWorking", "archivedShortTerm"]]
        | None = None,
        top_k: int | None = None,
        wait_ms: int | None = None,
        why: bool | None = None,
        words: bool | None = None,
        xlr: Literal["off", "gate", "report"] | None = None,
    ) -> Request[models.Recall]:
        """Search memories by question.

        Answers from the mirror, which holds the hot part of the graph in memory. Writes nothing, unless learning from
        every recall is configured. The first query after a start waits until the mirror is loaded. stale_ms is the
        age of the mirror, held_share the share of the scope that it holds. 503 if no part of the scope fits. Report
        useful hits to /v1/outcomes, each with its path.

        Args:
            at_least: A write that the hits must include: `change` of its answer. The recall waits for it, at most
                wait_ms, which is 1 s over MCP; if that is not enough, the answer has the flag change_not_reached: ask
                again.
            content: Whether to return the text of memories, which is read from the database.
            dimensions: Kinds of evidence to use; default engine.dimensions.
            embedding: Embedding of the query, with embedding.dimensions numbers: memories whose embeddings are
                similar are found, too. A configured embedder embeds the text of a query without one.
            kinds: Only nodes of these labels, such as Memory.
            metadata: Only memories whose metadata fulfils these conditions: a field and its value, null for a missing
                field, or bounds such as {"$gte": 2020, "$lt": 2024}. The key is the path of the field, such as
                user.age.
            min_relevance: Least relevance of a hit. Less relevant hits are left out, as are nodes without a text, so
                that there may be fewer hits or none: then the answer has the flag nothing_relevant.
            priming: Whether to add nodes that were seeds together with these in earlier queries; default
                engine.priming.
            profile: Profile: the rule by which activation spreads.
            scope: Scope of the data.
            seed_mass: Whether a seed keeps its initial value.
            seeds: Seeds: ids to start from, such as the results of a vector index.
            session: Only memories created in this session.
            since: Only nodes accessed since this instant.
            spread: Method of spreading from the seeds.
            tags: Only memories with each of these tags.
            text: The question, in plain words. Without a question, seeds or an embedding, nothing is found.
            tiers: Only memories of these tiers: working, shortTerm, longTerm or expiredWorking; default all of them.
            top_k: Maximum number of hits.
            wait_ms: How long it waits for that write, milliseconds.
            why: Whether to return the evidence for each seed and the relationships of the path to each hit.
            words: Whether to rank by the text of memories too.
            xlr: Effect of the contrast with other parts of the graph; default engine.xlr.
        """
        return Request(
            "POST",
            "/v1/recall",
            models.Recall,
            body={
                "at_least": at_least,
                "content": content,
                "dimensions": dimensions,
                "embedding": embedding,
                "kinds": kinds,
                "metadata": metadata,
                "min_relevance": min_relevance,
                "priming": priming,
                "profile": profile,
                "scope": scope,
                "seed_mass": seed_mass,
                "seeds": seeds,
                "session": session,
                "since": since,
                "spread": spread,
                "tags": tags,
                "text": text,
                "tiers": tiers,
                "top_k": top_k,
                "wait_ms": wait_ms,
                "why": why,
                "words": words,
                "xlr": xlr,
            },
            scope="body",
        )


class Relations(Noun[Call]):
    @operation
    def fade(
        self,
        *,
        at: datetime | None = None,
        dry_run: bool | None = None,
        list: bool | None = None,
        scope: str | None = None,
        idempotency_key: str | None = None,
    ) -> Request[models.PassedWithChange]:
        """Store the current weight of every relation, like the job fade.

        With dryRun, nothing is written. With dryRun and list, the response lists the relations of the scope that
        would be lowered.

        Args:
            at: Instant to use as now; needs the right admin.
            dry_run: Whether this is a dry run: nothing is written.
            list: Whether to list the relations that would be lowered; only with dryRun.
            scope: Scope of the listed relations.
            idempotency_key: Writes with the same key take effect once in 24 hours; default a new key.
        """
        return Request(
            "POST",
            "/memory/graph/decay",
            models.PassedWithChange,
            body={"at": at, "dryRun": dry_run, "list": list, "scope": scope},
            scope="body",
            idempotency_key=idempotency_key or new_key(),
        )

    @operation
    def list(
        self,
        *,
        at: datetime | None = None,
        cursor: str | None = None,
        decayed: bool | None = None,
        limit: int | None = None,
        scope: str | None = None,
    ) -> Request[models.RelationsPage]:
        """List relations with their current weight.

        Without a limit, all relations, heaviest first. With a limit, pages in a fixed order; the Link header points
        to the next page.

        Args:
            at: Instant to evaluate at; default now.
            cursor: Cursor from the Link header of the previous page.
            decayed: Whether to list the relations below the minimum, which retrieval omits, instead of the others.
            limit: Maximum number of items in the page.
            scope: Scope of the data.
        """
        return Request(
            "GET",
            "/memory/graph/edges",
            models.RelationsPage,
            query={"at": at, "cursor": cursor, "decayed": decayed, "limit": limit, "scope": scope},
            scope="query",
        )

    @operation
    def observe(
        self,
        *,
        from_: str,
        to: str,
        type: str,
        at: datetime | None = None,
        pinned: bool | None = None,
        scope: str | None = None,
        weight: float | None = None,
        idempotency_key: str | None = None,
    ) -> Request[models.WrittenEdgeWithChange]:
        """Record an observed relation.

        Sets its weight to 1 (one that stays pinned keeps its own), or to the given weight. 201 if it is new, 200 if
        it exists.

        Args:
            from_: Source entity.
            to: Target entity.
            type: Type of the relation, such as works_on.
            at: Instant of the write; needs the right admin.
            pinned: Whether it is pinned: it does not decay; default unchanged.
            scope: Scope of the data.
            weight: Weight, which decays until the next observation; default 1, or unchanged if the relation stays
                pinned. Below relation.minimumWeight (default 0.10) recall leaves the relation out.
            idempotency_key: Writes with the same key take effect once in 24 hours; default a new key.
        """
        return Request(
            "POST",
            "/memory/graph/edges",
            models.WrittenEdgeWithChange,
            body={"at": at, "from": from_, "pinned": pinned, "scope": scope, "to": to, "type": type, "weight": weight},
            scope="body",
            idempotency_key=idempotency_key or new_key(),
        )

    @operation
    def observe_batch(
        self, items: Sequence[models.Observation], *, idempotency_key: str | None = None
    ) -> Request[models.ObservedAllWithChange]:
        """Record observed relations in order, all or none.

        Args:
            items: The items of the batch.
            idempotency_key: Writes with the same key take effect once in 24 hours; default a new key.
        """
        return Request(
            "POST",
            "/memory/graph/edges:batch",
            models.ObservedAllWithChange,
            body=list(items),
            scope="items",
            idempotency_key=idempotency_key or new_key(),
        )


class Rows(Noun[Call]):
    @operation
    def list_hidden(self, *, scope: str | None = None) -> Request[models.Hidden]:
        """List the hidden rows of other libraries.

        Args:
            scope: Scope of the data.
        """
        return Request("GET", "/v1/hidden", models.Hidden, query={"scope": scope}, scope="query")

    @operation
    def rerank(self, keys: Sequence[str], *, query: str | None = None, scope: str | None = None) -> Request[models.Reranked]:
        """Score rows of another library for a query.

        For the results of a search of the library whose graph is read (section adopt of the configuration): whether
        each is live, its weight now, and a score by activation from the query, in the order of the request. Writes
        nothing.

        Args:
            keys: Keys of nodes or facts, as their library has them.
            query: The question, in plain words, like the text of a recall; without one, the score is the weight.
            scope: Scope of the data.
        """
        return Request("POST", "/v1/rerank", models.Reranked, body={"keys": keys, "query": query, "scope": scope}, scope="body")

    @operation
    def set_states(
        self,
        keys: Sequence[str],
        *,
        accessed: bool | None = None,
        at: datetime | None = None,
        hidden: bool | None = None,
        pinned: bool | None = None,
        scope: str | None = None,
        idempotency_key: str | None = None,
    ) -> Request[models.StatesSetWithChange]:
        """Pin, hide or access rows of another library, all or none.

        Kept in nodes of Ebb's own: the rows themselves are never written. A pinned row keeps its weight, a hidden one
        is left out of recall and rerank, an accessed one has the weight 1 again.

        Args:
            keys: Keys of nodes or facts, as their library has them.
            accessed: Whether they were accessed: their weight is 1 again.
            at: Instant of the write; needs the right admin.
            hidden: Whether recall and rerank leave them out.
            pinned: Whether they keep their weight.
            scope: Scope of the data.
            idempotency_key: Writes with the same key take effect once in 24 hours; default a new key.
        """
        return Request(
            "POST",
            "/v1/states",
            models.StatesSetWithChange,
            body={"accessed": accessed, "at": at, "hidden": hidden, "keys": keys, "pinned": pinned, "scope": scope},
            scope="body",
            idempotency_key=idempotency_key or new_key(),
        )


class Scopes(Noun[Call]):
    @operation
    def list(self, *, after: str | None = None, limit: int | None = None) -> Request[models.ScopesList]:
        """List scopes with their numbers of memories.

        Those with memories, sessions, entities, facts, places, or states of rows of other libraries, that the key may
        read.

        Args:
            after: The scope after which the page begins: next of the page before.
            limit: Maximum number of scopes; default 100.
        """
        return Request("GET", "/v1/scopes", models.ScopesList, query={"after": after, "limit": limit})

    @operation
    def delete(
        self, scope: str, *, accept_affected: int | None = None, dry_run: bool | None = None, idempotency_key: str | None = None
    ) -> Request[models.ScopeDeletionWithChange]:
        """Delete everything that Ebb wrote in a scope permanently, and keep a receipt.

        Repeat a request that was broken off: it continues, with the same receipt. Rows of other libraries stay; their
        states in Ebb go. 409 if it has more than 50 rows: the answer names the number to send as accept_affected.

        Args:
            scope: Its name.
            accept_affected: The number that the guard named, to delete so many.
            dry_run: Whether to count only.
            idempotency_key: Writes with the same key take effect once in 24 hours; default a new key.
        """
        return Request(
            "DELETE",
            "/v1/scopes/{scope}",
            models.ScopeDeletionWithChange,
            path_parts={"scope": scope},
            query={"accept_affected": accept_affected, "dry_run": dry_run},
            idempotency_key=idempotency_key or new_key(),
        )

    @lines
    def export(self, scope: str) -> Request[dict[str, Any]]:
        """Export everything that Ebb wrote in a scope.

        Lines of JSON: a header, a line for each node, one for each relationship, and the end with counts and
        checksum. Without its last line, an export is incomplete. `ebb restore` loads it into an empty database.

        Args:
            scope: Its name.
        """
        return Request("GET", "/v1/scopes/{scope}/export", dict[str, Any], path_parts={"scope": scope}, is_lines=True)

    @operation
    def list_receipts(self, scope: str) -> Request[models.ScopeReceipts]:
        """List the receipts of deletions of a scope, latest first.

        Args:
            scope: Its name.
        """
        return Request("GET", "/v1/scopes/{scope}/receipts", models.ScopeReceipts, path_parts={"scope": scope})


class Sessions(Noun[Call]):
    @operation
    def end(
        self,
        id: str,
        *,
        at: datetime | None = None,
        dry_run: bool | None = None,
        scope: str | None = None,
        threshold: float | None = None,
        idempotency_key: str | None = None,
    ) -> Request[models.SessionEndWithChange]:
        """End a session: promote its working memories above the threshold.

        Args:
            id: Its id.
            at: Instant of the write; needs the right admin.
            dry_run: Whether this is a dry run: nothing is written.
            scope: Scope of the data.
            threshold: Energy above which memories are promoted; default sessionEndThreshold.
            idempotency_key: Writes with the same key take effect once in 24 hours; default a new key.
        """
        return Request(
            "POST",
            "/v1/sessions/{id}/end",
            models.SessionEndWithChange,
            path_parts={"id": id},
            body={"at": at, "dry_run": dry_run, "scope": scope, "threshold": threshold},
            scope="body",
            idempotency_key=idempotency_key or new_key(),
        )


class Status(Noun[Call]):
    @operation
    def get(self, *, at: datetime | None = None) -> Request[models.Status]:
        """Show status: jobs, tiers, backlog, attempts, runs, mirrors.

        Args:
            at: Instant to evaluate at; default now.
        """
        return Request("GET", "/v1/status", models.Status, query={"at": at})


class Sweeps(Noun[Call]):
    @operation
    def get(self, id: str, *, scope: Literal["local", "team", "company", "public"] | None = None) -> Request[models.SweepJob]:
        """Show the state of a queued sweep.

        Args:
            id: Its id.
            scope: Scope that the sweep must have; default its own.
        """
        return Request("GET", "/v1/decay/jobs/{id}", models.SweepJob, path_parts={"id": id}, query={"scope": scope})

    @operation
    def run(
        self,
        scope: Literal["local", "team", "company", "public"],
        *,
        accept_affected: int | None = None,
        at: datetime | None = None,
        mode: Literal["retract", "confidence", "dry_run"] | None = None,
        policy_id: str | None = None,
        idempotency_key: str | None = None,
    ) -> Request[models.SweepAnswer | models.QueuedSweep]:
        """Apply the decay policies to the facts of a scope.

        A sweep only adds facts. It needs the right to write in the scope; with mode dry_run, which writes nothing,
        the right to read. A scope of more than 100,000 facts is queued for a worker: 202. 409 if the guard stops it
        because a policy that is new to the scope, or was changed, would retract too many facts; to accept, repeat
        their number in accept_affected. Once accepted, the policy is not stopped again unless it retracts over ten
        times as much as in any sweep before.

        Args:
            scope: Scope of the facts.
            accept_affected: Number of facts that the guard named, to accept it; later sweeps by these policies do not
                ask again.
            at: Instant to use as now; needs the right admin.
            mode: Mode that overrides the mode of each policy.
            policy_id: Id of the only policy to apply.
            idempotency_key: Writes with the same key take effect once in 24 hours; default a new key.
        """
        return Request(
            "POST",
            "/v1/decay/sweep",
            models.SweepAnswer | models.QueuedSweep,
            body={"accept_affected": accept_affected, "at": at, "mode": mode, "policy_id": policy_id, "scope": scope},
            idempotency_key=idempotency_key or new_key(),
        )


class Trails(Noun[Call]):
    @operation
    def list_cold(self, *, at: datetime | None = None, limit: int | None = None, scope: str | None = None) -> Request[models.ColdPlaces]:
        """List the places with the least exploitation and exploration.

        Args:
            at: Instant to evaluate at; default now.
            limit: Maximum number of items; default 20.
            scope: Scope of the data.
        """
        return Request("GET", "/v1/trails/cold", models.ColdPlaces, query={"at": at, "limit": limit, "scope": scope}, scope="query")

    @operation
    def get_cycle(self, *, at: datetime | None = None) -> Request[models.TrailCycle]:
        """Show the current cycle.

        Args:
            at: Instant to evaluate at; default now.
        """
        return Request("GET", "/v1/trails/cycle", models.TrailCycle, query={"at": at})

    @operation
    def advance_cycle(
        self, advance: int, *, accept_cycles: int | None = None, at: datetime | None = None, idempotency_key: str | None = None
    ) -> Request[models.TrailCycleWithChange]:
        """Add cycles manually.

        Evaporates every trail of every scope; this cannot be undone. 409 for more than 100 unless accept_cycles
        repeats the number.

        Args:
            advance: Number of cycles to add.
            accept_cycles: The same number again, to accept more than 100 cycles.
            at: Instant of the write; needs the right admin.
            idempotency_key: Writes with the same key take effect once in 24 hours; default a new key.
        """
        return Request(
            "POST",
            "/v1/trails/cycle",
            models.TrailCycleWithChange,
            body={"accept_cycles": accept_cycles, "advance": advance, "at": at},
            idempotency_key=idempotency_key or new_key(),
        )

    @operation
    def add_edge(
        self,
        *,
        from_: str | Mapping[str, Any],
        to: str | Mapping[str, Any],
        type: str,
        at: datetime | None = None,
        base_cost: float | None = None,
        scope: str | None = None,
        idempotency_key: str | None = None,
    ) -> Request[models.TrailWrittenWithChange]:
        """Add an edge between two places, or change the base cost of an existing one.

        201 if it is new, 200 if it exists.

        Args:
            from_: Source place.
            to: Target place.
            type: Type of the edge, one of pheromones.relationship_types.
            at: Instant of the write; needs the right admin.
            base_cost: Cost without pheromones; default the cost of its type.
            scope: Scope of the data.
            idempotency_key: Writes with the same key take effect once in 24 hours; default a new key.
        """
        return Request(
            "POST",
            "/v1/trails/edges",
            models.TrailWrittenWithChange,
            body={"at": at, "base_cost": base_cost, "from": from_, "scope": scope, "to": to, "type": type},
            scope="body",
            idempotency_key=idempotency_key or new_key(),
        )

    @operation
    def evaporate(
        self, *, at: datetime | None = None, dry_run: bool | None = None, force: bool | None = None, idempotency_key: str | None = None
    ) -> Request[models.EvaporatedWithChange]:
        """Evaporate all pheromones up to the current cycle, like the job evaporate.

        Args:
            at: Instant to use as now; needs the right admin.
            dry_run: Whether this is a dry run: nothing is written.
            force: Whether to evaporate before pheromones.decay_interval_cycles have passed.
            idempotency_key: Writes with the same key take effect once in 24 hours; default a new key.
        """
        return Request(
            "POST",
            "/v1/trails/evaporate",
            models.EvaporatedWithChange,
            body={"at": at, "dry_run": dry_run, "force": force},
            idempotency_key=idempotency_key or new_key(),
        )

    @operation
    def explore(
        self, node: str | Mapping[str, Any], *, at: datetime | None = None, scope: str | None = None, idempotency_key: str | None = None
    ) -> Request[models.TrailWrittenWithChange]:
        """Mark a place as explored, to lower its rank as a next place for a while.

        Args:
            node: The explored place.
            at: Instant of the write; needs the right admin.
            scope: Scope of the data.
            idempotency_key: Writes with the same key take effect once in 24 hours; default a new key.
        """
        return Request(
            "POST",
            "/v1/trails/explorations",
            models.TrailWrittenWithChange,
            body={"at": at, "node": node, "scope": scope},
            scope="body",
            idempotency_key=idempotency_key or new_key(),
        )

    @operation
    def list_hot(self, *, at: datetime | None = None, limit: int | None = None, scope: str | None = None) -> Request[models.HotEdges]:
        """List the edges with the most success and traversal.

        Args:
            at: Instant to evaluate at; default now.
            limit: Maximum number of items; default 20.
            scope: Scope of the data.
        """
        return Request("GET", "/v1/trails/hot", models.HotEdges, query={"at": at, "limit": limit, "scope": scope}, scope="query")

    @operation
    def list_next(
        self, place: str, *, at: datetime | None = None, limit: int | None = None, scope: str | None = None
    ) -> Request[models.NextPlaces]:
        """List candidates for the next place, most attractive first.

        Args:
            place: Place: an id, or Label:id.
            at: Instant to evaluate at; default now.
            limit: Maximum number of items; default 20.
            scope: Scope of the data.
        """
        return Request(
            "GET", "/v1/trails/next", models.NextPlaces, query={"at": at, "limit": limit, "place": place, "scope": scope}, scope="query"
        )

    @operation
    def add_node(
        self,
        *,
        id: str,
        label: str,
        at: datetime | None = None,
        name: str | None = None,
        scope: str | None = None,
        idempotency_key: str | None = None,
    ) -> Request[models.TrailWrittenWithChange]:
        """Add a place, or change the name of an existing one.

        201 if it is new, 200 if it exists.

        Args:
            id: Id, unique for its label; for an Entity its name.
            label: Label of the place, one of pheromones.labels.
            at: Instant of the write; needs the right admin.
            name: Display name.
            scope: Scope of the data.
            idempotency_key: Writes with the same key take effect once in 24 hours; default a new key.
        """
        return Request(
            "POST",
            "/v1/trails/nodes",
            models.TrailWrittenWithChange,
            body={"at": at, "id": id, "label": label, "name": name, "scope": scope},
            scope="body",
            idempotency_key=idempotency_key or new_key(),
        )

    @operation
    def find_path(self, *, from_: str, to: str, at: datetime | None = None, scope: str | None = None) -> Request[models.CheapestPath]:
        """Find the cheapest path between two places.

        Args:
            from_: First place: an id, or Label:id.
            to: Last place: an id, or Label:id.
            at: Instant to evaluate at; default now.
            scope: Scope of the data.
        """
        return Request(
            "GET", "/v1/trails/path", models.CheapestPath, query={"at": at, "from": from_, "scope": scope, "to": to}, scope="query"
        )

    @operation
    def reward(
        self,
        path: Sequence[str | Mapping[str, Any]],
        *,
        at: datetime | None = None,
        reward: float | None = None,
        scope: str | None = None,
        idempotency_key: str | None = None,
    ) -> Request[models.TrailWrittenWithChange]:
        """Reward a path: its edges become cheaper, its places more attractive.

        The first edge gets the full reward, later ones less. 400 for a place or an edge that does not exist.

        Args:
            path: Places of the path in order.
            at: Instant of the write; needs the right admin.
            reward: Reward, above 0 and at most 10; default 1.
            scope: Scope of the data.
            idempotency_key: Writes with the same key take effect once in 24 hours; default a new key.
        """
        return Request(
            "POST",
            "/v1/trails/paths",
            models.TrailWrittenWithChange,
            body={"at": at, "path": path, "reward": reward, "scope": scope},
            scope="body",
            idempotency_key=idempotency_key or new_key(),
        )

    @operation
    def get_status(
        self, place: str, *, at: datetime | None = None, scope: str | None = None, to: str | None = None
    ) -> Request[models.TrailStatus]:
        """Show the pheromones of a place, or of the edges between two.

        Args:
            place: Place: an id, or Label:id.
            at: Instant to evaluate at; default now.
            scope: Scope of the data.
            to: Second place, to show the edges between the two.
        """
        return Request(
            "GET", "/v1/trails/status", models.TrailStatus, query={"at": at, "place": place, "scope": scope, "to": to}, scope="query"
        )


class Nouns(Generic[Call]):
    def __init__(self, send: Callable[[Request[Any]], Any]) -> None:
        self.attempts: Attempts[Call] = Attempts(send)
        self.context: Context[Call] = Context(send)
        self.engine: Engine[Call] = Engine(send)
        self.facts: Facts[Call] = Facts(send)
        self.health: Health[Call] = Health(send)
        self.jobs: Jobs[Call] = Jobs(send)
        self.memories: Memories[Call] = Memories(send)
        self.mirrors: Mirrors[Call] = Mirrors(send)
        self.outcomes: Outcomes[Call] = Outcomes(send)
        self.policies: Policies[Call] = Policies(send)
        self.recall: Recall[Call] = Recall(send)
        self.relations: Relations[Call] = Relations(send)
        self.rows: Rows[Call] = Rows(send)
        self.scopes: Scopes[Call] = Scopes(send)
        self.sessions: Sessions[Call] = Sessions(send)
        self.status: Status[Call] = Status(send)
        self.sweeps: Sweeps[Call] = Sweeps(send)
        self.trails: Trails[Call] = Trails(send)
