#!/usr/bin/env python3
"""Communities and PageRank beside NetworKit and igraph: the same graphs, one thread each, one after the other.

  pip install networkit igraph numpy                 outside of the repository
  cargo bench --bench engine --no-run                names the program
  python3 tests/bench/peers/graphs.py PROGRAM rmat-s16 rmat-s18 ...

Of each peer the least of three runs, each with another seed, from the graph in its own form on. Ebb's times and its modularity are those
that the program itself reports (`--measure`); its graph has what inhibits left out, of which these sets have nothing. Edges are
undirected for communities, their weight the sum of both directions. PageRank: damping 0.85; Ebb stops at 1e-6 (sum of differences),
NetworKit at the same, igraph solves exactly.
"""

import json
import subprocess
import sys
import time

import igraph
import networkit
import numpy

ROUNDS = 3


def ours(program, kernel, name):
    """Counters of a kernel of the engine's bench."""
    output = subprocess.run([program, "--bench", "--measure", kernel, name], check=True, capture_output=True)
    return json.loads(output.stdout)["runs"][0]["counters"]


def edges(program, name):
    output = subprocess.run([program, "--bench", "--edges", name], check=True, capture_output=True)
    rows = numpy.fromstring(output.stdout.decode(), sep=" ").reshape(-1, 3)
    return rows[:, 0].astype(int), rows[:, 1].astype(int), rows[:, 2]


def undirected(source, target, weight):
    """One edge for each pair, with the weights of both directions."""
    nodes = int(max(source.max(), target.max())) + 1
    low, high = numpy.minimum(source, target), numpy.maximum(source, target)
    pairs, at = numpy.unique(low * nodes + high, return_inverse=True)
    return nodes, pairs // nodes, pairs % nodes, numpy.bincount(at, weight)


def best(run):
    """The least seconds of some runs with seeds of their own, and the answer of the last."""
    seconds, answer = float("inf"), None
    for seed in range(ROUNDS):
        began = time.perf_counter()
        answer = run(seed)
        seconds = min(seconds, time.perf_counter() - began)
    return seconds, answer


def networkit_graph(nodes, source, target, weight, directed):
    return networkit.GraphFromCoo((weight, (source, target)), n=nodes, weighted=True, directed=directed)


def communities(program, name, source, target, weight):
    found = ours(program, "communities", name)
    yield "Ebb", len(source) / found["m_edges_per_s"] / 1e6, found["modularity"]
    nodes, low, high, both = undirected(source, target, weight)
    graph = networkit_graph(nodes, low, high, both, False)
    quality = networkit.community.Modularity().getQuality

    def louvain(seed):
        networkit.engineering.setSeed(seed, False)
        return networkit.community.PLM(graph, refine=True).run().getPartition()

    def leiden(seed):
        networkit.engineering.setSeed(seed, False)
        return networkit.community.ParallelLeiden(graph, iterations=3).run().getPartition()

    for peer, run in (("NetworKit PLM", louvain), ("NetworKit Leiden", leiden)):
        seconds, partition = best(run)
        yield peer, seconds, quality(partition, graph)
    graph = igraph.Graph(n=nodes, edges=list(zip(low.tolist(), high.tolist())))
    weights = both.tolist()

    def multilevel(_seed):
        return graph.community_multilevel(weights=weights)

    def two_cycles(_seed):
        return graph.community_leiden(objective_function="modularity", weights=weights, n_iterations=2)

    for peer, run in (("igraph multilevel", multilevel), ("igraph Leiden", two_cycles)):
        seconds, partition = best(run)
        yield peer, seconds, graph.modularity(partition, weights=weights)


def pagerank(program, name, source, target, weight):
    found = ours(program, "pagerank", name)
    yield "Ebb", len(source) * found["iterations"] * found["ns_per_edge_iteration"] / 1e9, None
    nodes = int(max(source.max(), target.max())) + 1
    graph = networkit_graph(nodes, source, target, numpy.ones(len(source)), True)
    networkit.engineering.setSeed(1, False)

    def rank(_seed):
        sinks = networkit.centrality.SinkHandling.DistributeSinks
        ranks = networkit.centrality.PageRank(graph, damp=0.85, tol=1e-6, distributeSinks=sinks)
        ranks.norm = networkit.centrality.Norm.L1_NORM
        return ranks.run()

    yield "NetworKit", best(rank)[0], None
    graph = igraph.Graph(n=nodes, edges=list(zip(source.tolist(), target.tolist())), directed=True)
    yield "igraph", best(lambda _seed: graph.pagerank(damping=0.85))[0], None


def main(program, names):
    networkit.setNumberOfThreads(1)
    print(f"networkit {networkit.__version__}, igraph {igraph.__version__}, one thread")
    print("| graph | what | by | seconds | over Ebb | modularity |\n|---|---|---|---|---|---|")
    for name in names:
        rows = edges(program, name)
        for what, measure in (("communities", communities), ("PageRank", pagerank)):
            first = None
            for peer, seconds, found in measure(program, name, *rows):
                first = first or seconds
                modularity = "" if found is None else f"{found:.4f}"
                print(f"| {name} | {what} | {peer} | {seconds:.3f} | {seconds / first:.2f} | {modularity} |", flush=True)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2:])
