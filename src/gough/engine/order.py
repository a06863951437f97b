"""The order of a program's operations: few values alive at a time, so that few leave the registers."""

from __future__ import annotations

from collections.abc import Callable
from heapq import heapify, heappop, heappush

from gough.engine.graph import CONSTANT, INPUT, Graph


def few_alive(graph: Graph, numbers: list[int], done: Callable[[int], bool]) -> list[int]:
    """The nodes, arguments first, in an order with few values alive at any time.

    Built from the end: of the operations whose users are all placed, the one comes before these that
    brings the fewest new arguments to life; among equals the one whose own arguments need the most
    registers (Sethi and Ullman's number), then the latest found. Inputs come just before their first
    use. `done` tells what is computed elsewhere.
    """
    nodes = [n for n in numbers if not done(n) and graph.operations[n] not in (CONSTANT, INPUT)]
    inside = set(nodes)
    arguments = {n: [a for a in dict.fromkeys(graph.arguments[n]) if a in inside] for n in nodes}
    users: dict[int, list[int]] = {n: [] for n in nodes}
    registers: dict[int, int] = {}
    for n in nodes:
        needs = sorted((registers[a] for a in arguments[n]), reverse=True)
        registers[n] = max([1, *(need + i for i, need in enumerate(needs))])
        for a in arguments[n]:
            users[a].append(n)
    waiting = {n: len(users[n]) for n in nodes}
    found = {n: 0 for n in nodes if not waiting[n]}
    births = {n: len(arguments[n]) for n in nodes}
    alive: set[int] = set()
    placed: set[int] = set()

    def key(n: int) -> tuple[int, int, int, int]:
        return births[n] - (n in alive), -registers[n], -found[n], n

    ready = [key(n) for n in found]
    heapify(ready)
    backwards: list[int] = []
    while ready:
        entry = heappop(ready)
        n = entry[-1]
        if n in placed or entry != key(n):
            continue  # an argument came to life since; there is a better entry
        placed.add(n)
        backwards.append(n)
        for a in arguments[n]:
            if a not in alive:
                alive.add(a)
                for user in users[a]:
                    births[user] -= 1
                    if user in found and user not in placed:
                        heappush(ready, key(user))
            waiting[a] -= 1
            if not waiting[a]:
                found[a] = len(backwards)
                heappush(ready, key(a))
    order: list[int] = []
    seen: set[int] = set()
    for n in reversed(backwards):
        for a in graph.arguments[n]:
            if graph.operations[a] == INPUT and a not in seen:
                seen.add(a)
                order.append(a)
        order.append(n)
    return order + [n for n in numbers if n not in seen and n not in inside]
