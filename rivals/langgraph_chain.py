"""The same chain with LangGraph: pip install langgraph, then python langgraph_chain.py"""

import statistics
import time
from typing import TypedDict

from langgraph.graph import END, START, StateGraph


class Count(TypedDict):
    n: int


def chain(nodes):
    graph = StateGraph(Count)
    before = START
    for node in range(nodes):
        name = f"n{node}"
        graph.add_node(name, lambda count: {"n": count["n"] + 1})
        graph.add_edge(before, name)
        before = name
    graph.add_edge(before, END)
    return graph.compile()


for nodes in (10, 100, 1_000):
    compiled, times = chain(nodes), []
    begin = time.perf_counter()
    while time.perf_counter() - begin < 3 or len(times) < 3:
        start = time.perf_counter()
        counted = compiled.invoke({"n": 0}, {"recursion_limit": 2_000})
        times.append(time.perf_counter() - start)
        assert counted["n"] == nodes
    print(f"{nodes} nodes: {statistics.median(times) / nodes * 1e6:.1f} µs per node")
