"""Random integers that depend on (seed, purpose) and nothing else: the same on every machine, for ever."""

from __future__ import annotations

import hashlib


class Stream:
    """A reproducible stream of uniform integers, SHAKE-256 of the seed and the purpose.

    >>> Stream(0, "design", "u", 1).below(1000) == Stream(0, "design", "u", 1).below(1000)
    True
    """

    __slots__ = ("_block", "_key", "_pool")

    def __init__(self, seed: int, *purpose: str | int) -> None:
        self._key = "/".join(str(part) for part in ("exactmha", seed, *purpose)).encode()
        self._block = 0
        self._pool = b""

    def _take(self, size: int) -> bytes:
        while len(self._pool) < size:
            label = self._key + b"#" + str(self._block).encode()
            self._pool += hashlib.shake_256(label).digest(max(64, size))
            self._block += 1
        taken, self._pool = self._pool[:size], self._pool[size:]
        return taken

    def below(self, bound: int) -> int:
        """Return a uniform integer in [0, bound), by rejection; `bound` >= 1."""
        bits = (bound - 1).bit_length()
        while True:
            drawn = int.from_bytes(self._take((bits + 7) // 8), "big") & ((1 << bits) - 1)
            if drawn < bound:
                return drawn

    def between(self, low: int, high: int) -> int:
        """Return a uniform integer in [low, high]."""
        return low + self.below(high - low + 1)
