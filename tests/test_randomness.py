"""Random streams against hashlib, and as random numbers."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from collections.abc import Iterator
from itertools import pairwise

import pytest

from exactmha.randomness import Stream


def shake_bytes(key: str, size: int = 64) -> Iterator[int]:
    """Blocks of SHAKE-256 of "key#0", "key#1", …"""
    block = 0
    while True:
        yield from hashlib.shake_256(f"{key}#{block}".encode()).digest(size)
        block += 1


def below(source: Iterator[int], bound: int) -> int:
    """Big-endian bytes, surplus bits dropped, by rejection."""
    bits = (bound - 1).bit_length()
    while True:
        drawn = int.from_bytes(bytes(next(source) for _ in range((bits + 7) // 8)), "big") % 2**bits
        if drawn < bound:
            return drawn


@pytest.mark.parametrize("bound", [2, 3, 255, 256, 257, 1000, 2**40, 10**30])
@pytest.mark.parametrize(
    ("seed", "purpose", "key"),
    [
        (0, ("design", "u", 1, 0), "exactmha/0/design/u/1/0"),
        (2**64 - 1, ("instance", "radical", 3, 4), "exactmha/18446744073709551615/instance/radical/3/4"),
        (7, (), "exactmha/7"),
    ],
)
def test_stream_is_shake_256_of_seed_and_purpose(
    bound: int, seed: int, purpose: tuple[str | int, ...], key: str
) -> None:
    stream, source = Stream(seed, *purpose), shake_bytes(key)
    assert [stream.below(bound) for _ in range(200)] == [below(source, bound) for _ in range(200)]


def test_mixed_bounds_take_bytes_in_turn() -> None:
    stream, source = Stream(1, "mixed"), shake_bytes("exactmha/1/mixed")
    for bound in [2, 10**9, 3, 1, 2**70, 256] * 30:
        assert stream.below(bound) == below(source, bound)


def test_a_number_longer_than_a_block() -> None:
    first = int.from_bytes(hashlib.shake_256(b"exactmha/0/long#0").digest(100), "big")
    assert Stream(0, "long").below(2**800) == first


def test_values_that_must_never_change() -> None:
    # shake_256(b"exactmha/0/golden#0") begins with 88 6e 93 a6; three bytes each, the lowest 20 bits, below 10^6
    stream = Stream(0, "golden")
    assert [stream.below(10**6) for _ in range(4)] == [552595, 408450, 844135, 992534]


def test_between_is_inclusive() -> None:
    stream = Stream(0, "between")
    assert {stream.between(-2, 3) for _ in range(200)} == set(range(-2, 4))
    assert {stream.between(5, 5) for _ in range(5)} == {5}
    one, other = Stream(4, "shift"), Stream(4, "shift")
    assert [one.between(-10, 10) + 10 for _ in range(50)] == [other.below(21) for _ in range(50)]


@pytest.mark.parametrize("bound", [2, 3, 7, 16, 100])
def test_numbers_are_uniform(bound: int) -> None:
    stream, draws = Stream(3, "uniform", bound), 400 * bound
    counts = [0] * bound
    for _ in range(draws):
        counts[stream.below(bound)] += 1
    chi_squared = sum((n - 400) ** 2 / 400 for n in counts)
    # mean bound − 1, variance 2(bound − 1): five standard deviations either way
    assert abs(chi_squared - (bound - 1)) < 5 * (2 * (bound - 1)) ** 0.5 + 3


def test_pairs_of_neighbours_are_uniform() -> None:
    stream = Stream(3, "pairs")
    drawn = [stream.below(4) for _ in range(8001)]
    counts = {(a, b): 0 for a in range(4) for b in range(4)}
    for pair in pairwise(drawn):
        counts[pair] += 1
    assert all(400 < n < 600 for n in counts.values())  # 500 expected, standard deviation 22


def test_other_seeds_and_purposes_are_other_streams() -> None:
    keys = [
        (0,),
        (1,),
        (0, "a"),
        (0, "b"),
        (0, "a", 1),
        (0, "a", 2),
        (0, "a", 12),
        (0, "a", 1, 2),
        (10, "a"),
        (1, "0a"),
    ]
    drawn = {key: tuple(Stream(*key).below(2**64) for _ in range(3)) for key in keys}  # type: ignore[arg-type]
    assert len(set(drawn.values())) == len(keys)


def test_streams_do_not_disturb_each_other() -> None:
    one, other = Stream(0, "one"), Stream(0, "other")
    mixed = [(one.below(1000), other.below(1000)) for _ in range(50)]
    one, other = Stream(0, "one"), Stream(0, "other")
    assert ([one.below(1000) for _ in range(50)], [other.below(1000) for _ in range(50)]) == (
        [a for a, _ in mixed],
        [b for _, b in mixed],
    )


def test_hash_seed_does_not_matter() -> None:
    program = "from exactmha.randomness import Stream; s = Stream(0, 'x'); print([s.below(10**9) for _ in range(5)])"
    outputs = {
        subprocess.run(
            [sys.executable, "-c", program], env={"PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True
        ).stdout
        for seed in ("0", "1", "12345")
    }
    assert len(outputs) == 1
