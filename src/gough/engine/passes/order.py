"""The order of a program's operations: few values alive at a time, so that few leave the registers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from heapq import heapify, heappop, heappush

APART = 2
"""Operations from one to its user, better."""


def few_alive(arguments: Mapping[int, Sequence[int]]) -> list[int]:
    """The operations, arguments first, in an order with few values alive at any time.

    `arguments` has the operations as keys, arguments before their users; what is no key is there
    already. Built from the end: of the operations whose users are all placed, the one comes before
    these that brings the fewest new arguments to life; among equals the one whose own arguments need
    the most registers (Sethi and Ullman's number), then the latest found. One that would come straight
    before its user, which would have to wait for it, counts one more.
    """
    inside = {
        n: [a for a in dict.fromkeys(given) if a in arguments] for n, given in arguments.items()
    }
    users: dict[int, list[int]] = {n: [] for n in inside}
    registers: dict[int, int] = {}
    for n, given in inside.items():
        needs = sorted((registers[a] for a in given), reverse=True)
        registers[n] = max([1, *(need + i for i, need in enumerate(needs))])
        for a in given:
            users[a].append(n)
    waiting = {n: len(users[n]) for n in inside}
    found = {n: 0 for n in inside if not waiting[n]}
    births = {n: len(given) for n, given in inside.items()}
    alive: set[int] = set()
    placed: set[int] = set()

    def key(n: int) -> tuple[int, int, int, int]:
        return births[n] - (n in alive), -registers[n], -found[n], n

    ready = [key(n) for n in found]
    heapify(ready)
    fresh: list[int] = []
    backwards: list[int] = []
    while True:
        while ready and (ready[0][-1] in placed or ready[0] != key(ready[0][-1])):
            heappop(ready)  # an argument came to life since; there is a better entry
        if not ready and not fresh:
            break
        n = ready[0][-1] if ready else fresh[0]
        for other in fresh:
            more, *rest = key(other)
            if (more + 1, *rest) < key(n):
                n = other
        placed.add(n)
        backwards.append(n)
        for one in [one for one in fresh if one == n or len(backwards) - found[one] >= APART]:
            fresh.remove(one)
            if one != n:
                heappush(ready, key(one))
        for a in inside[n]:
            if a not in alive:
                alive.add(a)
                for user in users[a]:
                    births[user] -= 1
                    if user in found and user not in placed and user not in fresh:
                        heappush(ready, key(user))
            waiting[a] -= 1
            if not waiting[a]:
                found[a] = len(backwards)
                fresh.append(a)
    return backwards[::-1]
