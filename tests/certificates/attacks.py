"""Certificates to be rejected, named after the attack: what is changed, and the reason and the step that must object.

Every attack repairs the SHA-256 of the transcript, so that the logic has to find it and not the hash, unless it is an
attack on that hash.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from copy import deepcopy
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from forging import (
    EXPONENTIAL,
    RATIONAL,
    UNIT,
    Document,
    ForgedHead,
    Forger,
    canonical,
    change_base,
    dot,
    map_scalars,
    number,
    profiles,
    seal,
    text,
    total,
)
from instances import INSTANCES


@dataclass(frozen=True)
class Attack:
    """A certificate to be rejected: why, in which step, and perhaps only against a claim given separately."""

    make: Callable[[dict[str, Document]], Document]
    reason: str
    where: str
    claim: Document | None = None


ATTACKS: dict[str, Attack] = {}
R, Q, E = "rational-two-heads", "radical-two-heads", "exponential-two-heads"
"""Three certificates of one layout, d = 2 and H = 2; the numbers below are the numbers of their steps."""
TOKENS, BASE, P11, P12, P11_12, MATCH_2, READOUT, P21, P1_21, MATCH_21, P22, P1_22, MATCH_22, HEADS, CONCLUSION = range(
    15
)


def attack(
    on: str | Sequence[str],
    reason: str,
    where: int | str,
    claim: Document | None = None,
    *,
    sealed: bool = True,
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Register an attack that changes an accepted certificate; with several, one for each."""
    targets = [on] if isinstance(on, str) else list(on)

    def register(change: Callable[..., None]) -> Callable[..., None]:
        def maker(target: str) -> Callable[[dict[str, Document]], Document]:
            def make(accepted: dict[str, Document]) -> Document:
                document = deepcopy(accepted[target])
                if change.__code__.co_argcount > 1:
                    change(document, accepted)
                else:
                    change(document)
                if sealed:
                    seal(document)
                return document

            return make

        name = change.__name__.replace("_", "-")
        for target in targets:
            full = name if len(targets) == 1 else f"{name}-{target.partition('-')[0]}"
            place = where if isinstance(where, str) else f"step {where}"
            ATTACKS[full] = Attack(maker(target), reason, place, claim)
        return change

    return register


def forged(reason: str, where: int) -> Callable[[Callable[[], Document]], Callable[[], Document]]:
    """Register an attack made from nothing."""

    def register(make: Callable[[], Document]) -> Callable[[], Document]:
        ATTACKS[make.__name__.replace("_", "-")] = Attack(lambda _accepted: make(), reason, f"step {where}")
        return make

    return register


def add(written: str, amount: int | Fraction) -> str:
    return text(number(written) + amount)


def permute(step: Document) -> None:
    step["exponents"].reverse()
    step["residues"].reverse()


CONTENT = ("answers", "exponents", "residues")


def exchange(left: Document, right: Document, keys: Iterable[str]) -> None:
    for key in keys:
        left[key], right[key] = right[key], left[key]


def answer_again(document: Document, place: int) -> None:
    """Compute the answers of a profile (rational field) from its poles and residues."""
    step, steps = document["steps"][place], document["steps"]
    if step["b"] == [1]:
        base = number(steps[BASE]["answer"])
    else:
        b = [[int(x, 16) for x in token] for token in steps[TOKENS]["b"]]
        base = dot([number(x) for (x,) in steps[READOUT]["s"]], total(b, step["b"]))
    exponents = [[int(e, 16) for e in exponent] for exponent in step["exponents"]]
    residues = [number(c) for (c,) in step["residues"]]
    forger = Forger(document["field"])
    step["answers"] = [forger.answer(base, k, exponents, residues) for k in range(1, len(step["answers"]) + 1)]


def shift_residues(document: Document, place: int, amounts: Sequence[int]) -> None:
    step = document["steps"][place]
    step["residues"] = [[add(c, x)] for (c,), x in zip(step["residues"], amounts, strict=True)]
    answer_again(document, place)


def solve_readout(document: Document) -> None:
    """Write the v that the residues of the first row give (d = 2, rational field), and their sum."""
    steps = document["steps"]
    (a, b), (c, d) = ([int(x, 16) for x in token] for token in steps[TOKENS]["u"])
    v = []
    for (p,), (q,) in zip(steps[P11]["residues"], steps[P12]["residues"], strict=True):
        x, y = number(p), number(q)
        v.append([(x * d - y * b) / (a * d - b * c), (a * y - c * x) / (a * d - b * c)])
    steps[READOUT]["v"] = [[[text(x)] for x in row] for row in v]
    steps[READOUT]["s"] = [[text(sum(column))] for column in zip(*v, strict=True)]


# heads and labels


@attack((R, Q, E), "heads", HEADS)
def swapped_heads(c: Document) -> None:
    c["steps"][HEADS]["W"].reverse()


@attack((R, Q, E), "readout", READOUT)
def swapped_readouts(c: Document) -> None:
    c["steps"][READOUT]["v"].reverse()


@attack("rational-by-hand", "heads", 4)
def swapped_heads_one_dimension(c: Document) -> None:
    c["steps"][4]["W"].reverse()


@attack(R, "heads", HEADS)
def weights_transposed(c: Document) -> None:
    W = c["steps"][HEADS]["W"]
    W[0] = [[list(column) for column in zip(*matrix, strict=True)] for matrix in W[0]]


@attack(R, "heads", HEADS)
def units_exchanged(c: Document) -> None:
    c["steps"][HEADS]["W"][0].reverse()


@attack((R, Q, E), "heads", HEADS)
def weight_altered(c: Document) -> None:
    row = c["steps"][HEADS]["W"][1][0][0]
    row[1] = add(row[1], 1)


@attack((R, Q, E), "matching", MATCH_2)
def heads_permuted_in_first_profile(c: Document) -> None:
    permute(c["steps"][P11])


@attack((R, Q, E), "matching", MATCH_2)
def wrong_matching(c: Document) -> None:
    permute(c["steps"][P12])


@attack(R, "matching", MATCH_21)
def wrong_matching_in_later_row(c: Document) -> None:
    permute(c["steps"][P21])


@attack(R, "matching", MATCH_2)
def heads_permuted_in_sum_profile(c: Document) -> None:
    permute(c["steps"][P11_12])


@attack((R, Q, E), "matching", MATCH_22)
def heads_permuted_in_last_profile(c: Document) -> None:
    permute(c["steps"][P1_22])


@attack((R, Q, E), "readout", READOUT)
def heads_permuted_in_first_row(c: Document) -> None:
    for place in (P11, P12, P11_12):
        permute(c["steps"][place])


@attack("rational-by-hand", "readout", 3)
def heads_permuted_one_dimension(c: Document) -> None:
    permute(c["steps"][2])


@attack((R, Q, E), "matching", MATCH_21)
def sum_profiles_swapped(c: Document) -> None:
    exchange(c["steps"][P1_21], c["steps"][P1_22], CONTENT)


@attack(R, "matching", MATCH_2)
def sum_profile_swapped_with_first(c: Document) -> None:
    exchange(c["steps"][P11], c["steps"][P11_12], CONTENT)


# counts, lengths, claims


@attack(R, "claim", CONCLUSION)
def query_count_one_more(c: Document) -> None:
    c["claim"]["queries"] += 1


@attack(R, "claim", CONCLUSION)
def query_count_without_the_first(c: Document) -> None:
    c["claim"]["queries"] -= 1


@attack("rational-no-heads-bound-2", "claim", CONCLUSION)
def query_count_of_no_heads(c: Document) -> None:
    c["claim"]["queries"] = 1


@attack(R, "claim", CONCLUSION)
def length_cheated(c: Document) -> None:
    c["claim"]["length"] -= 1


@attack(R, "claim", CONCLUSION)
def length_overstated(c: Document) -> None:
    c["claim"]["length"] += 1


@attack("exponential-bound-3", "claim", CONCLUSION)
def length_of_the_true_number(c: Document) -> None:
    c["claim"]["length"] = 5


def _condition(name: str) -> None:
    @attack(R, "conditions", CONCLUSION)
    def change(c: Document) -> None:
        conditions = c["steps"][CONCLUSION]["conditions"]
        conditions[name] = add(conditions[name], 1)

    ATTACKS[f"condition-count-{name}-off-by-one"] = ATTACKS.pop("change")


for _name in ("C1", "C2", "C3", "C4"):
    _condition(_name)


@attack("rational-no-heads", "conditions", CONCLUSION)
def condition_count_negative(c: Document) -> None:
    c["steps"][CONCLUSION]["conditions"]["C2"] = "-1"


@attack(R, "conditions", CONCLUSION)
def conditions_of_three_heads(c: Document) -> None:
    c["steps"][CONCLUSION]["conditions"] = {"C1": "2", "C2": "15", "C3": "9", "C4": "36"}


def _cut_answers(c: Document, told: int) -> None:
    c["claim"]["told"] = told
    for step in profiles(c):
        del step["answers"][2 * told :]


@attack("exponential-bound-3", "claim", CONCLUSION)
def told_lowered(c: Document) -> None:
    _cut_answers(c, 2)


@attack("exponential-bound-3", "claim", "the claim", {"told": 3})
def told_lowered_all_adjusted(c: Document) -> None:
    _cut_answers(c, 2)
    c["claim"].update(queries=29, length=5)


@attack("exponential-bound-3", "claim", "the header")
def bound_relabelled_as_known(c: Document) -> None:
    c["claim"]["bound"] = False


@attack("rational-no-heads-bound-2", "claim", "the header")
def bound_relabelled_as_known_no_heads(c: Document) -> None:
    c["claim"]["bound"] = False


@attack("exponential-bound-3", "claim", "the header")
def told_lowered_below_the_number(c: Document) -> None:
    _cut_answers(c, 1)
    c["claim"].update(queries=15, length=3)


@attack(R, "claim", "the header")
def heads_raised_in_claim(c: Document) -> None:
    c["claim"]["heads"] = 3


@attack(R, "claim", "the header")
def known_number_lowered_in_claim(c: Document) -> None:
    c["claim"]["heads"] = 1


@attack(R, "claim", "the claim", {"heads": 3})
def weaker_claim_fewer_heads(_c: Document) -> None:
    pass


@attack("exponential-hidden-heads", "claim", "the claim", {"heads": 2})
def weaker_claim_hidden_heads(_c: Document) -> None:
    pass


@attack("exponential-bound-reached", "claim", "the claim", {"bound": False})
def weaker_claim_bound(_c: Document) -> None:
    pass


@attack("exponential-bound-3", "claim", "the claim", {"heads": 2, "queries": 29})
def weaker_claim_more_queries(_c: Document) -> None:
    pass


@attack("rational-by-hand", "claim", "the claim", {"heads": 2, "dim": 2})
def weaker_claim_dimension(_c: Document) -> None:
    pass


@attack(R, "claim", "the claim", {"field": "exponential"})
def weaker_claim_other_field(_c: Document) -> None:
    pass


@attack(R, "claim", "the claim", {"instance": hashlib.sha256(INSTANCES["rational-by-hand"]).hexdigest()})
def weaker_claim_other_instance(_c: Document) -> None:
    pass


# how many heads


@forged("equal-poles", 2)
def duplicate_pole() -> Document:
    """One head written twice, its v split: two heads claimed where there is one."""
    W = [[[1, 2], [0, -1]]]
    return EXPONENTIAL.certificate([[1, 2], [0, 1]], [[1, 1], [2, -1]], [(W, [1, 0]), (W, [1, 3])])


@forged("equal-poles", 2)
def duplicate_pole_one_dimension() -> Document:
    """Without a matching, nothing else forbids it."""
    W = [[[1]], [[-1]]]
    return RATIONAL.certificate([[1]], [[2]], [(W, [1]), (W, [3])])


@forged("equal-poles", 2)
def heads_overstated_with_cancelling_pair() -> Document:
    W, extra = [[[1, 2], [0, -1]], [[0, 0], [1, 0]]], [[[0, 1], [0, 3]], [[1, 0], [0, 0]]]
    heads: list[ForgedHead] = [(W, [1, 1]), (extra, [1, 2]), (extra, [-1, -2])]
    return RATIONAL.certificate([[1, 2], [0, 1]], [[1, 1], [2, -1]], heads)


@forged("zero-residue", 2)
def heads_overstated_with_zero_residues() -> Document:
    heads: list[ForgedHead] = [([[[1, 2], [0, -1]]], [1, 1]), ([[[3, 0], [1, 1]]], [0, 0])]
    return EXPONENTIAL.certificate([[1, 2], [0, 1]], [[1, 1], [2, -1]], heads)


@forged("zero-residue", 2)
def heads_overstated_in_zero_model() -> Document:
    """No head at all, one claimed: every answer is 0."""
    return RATIONAL.certificate([[1]], [[1]], [([[[1]], [[0]]], [0])])


@attack(R, "interpolant", P11)
def heads_understated(c: Document) -> None:
    _drop_a_head(c, told=1)
    c["claim"].update(bound=False, queries=15, length=3)


@attack(E, "interpolant", P11)
def heads_understated_below_the_bound(c: Document) -> None:
    _drop_a_head(c, told=2)
    c["claim"].update(bound=True)


def _drop_a_head(c: Document, told: int) -> None:
    _cut_answers(c, told)
    c["claim"]["heads"] = 1
    for step in profiles(c):
        del step["exponents"][1], step["residues"][1]
    readout = c["steps"][READOUT]
    del readout["v"][1], c["steps"][HEADS]["W"][1]
    readout["s"] = readout["v"][0]
    c["steps"][CONCLUSION]["conditions"] = {"C1": "2", "C2": "0", "C3": "3", "C4": "0"}


@attack(E, "interpolant", P11)
def no_heads_claimed_for_two(c: Document) -> None:
    c["claim"].update(heads=0, bound=True)
    for step in profiles(c):
        step["exponents"], step["residues"] = [], []
    c["steps"][READOUT].update(v=[], s=[["0"], ["0"]])
    c["steps"][HEADS]["W"] = []
    c["steps"][CONCLUSION]["conditions"] = {"C1": "2", "C2": "0", "C3": "0", "C4": "0"}


# designs that violate a condition; everything else about them is true


@forged("dependent-tokens", 0)
def dependent_tokens_b() -> Document:
    return EXPONENTIAL.certificate([[1, 2], [2, 4]], UNIT, [([[[1, 2], [3, 5]]], [1, 1])])


@forged("dependent-tokens", 0)
def dependent_tokens_u() -> Document:
    u = [[1, 2, 0], [0, 1, 1], [1, 3, 1]]
    matrix = [[1, 2, 0], [3, 5, 1], [0, 1, 2]]
    return EXPONENTIAL.certificate([[1, 0, 0], [0, 1, 0], [0, 0, 1]], u, [([matrix], [1, 1, 1])])


@forged("dependent-tokens", 0)
def zero_token() -> Document:
    return RATIONAL.certificate([[0]], [[1]], [([[[1]], [[0]]], [1])])


@forged("dependent-tokens", 0)
def equal_tokens_of_zero_model() -> Document:
    return RATIONAL.certificate([[1, 2], [1, 2]], UNIT, [])


@forged("zero-residue", P12)
def zero_residue() -> Document:
    """v_1 is orthogonal to u_2."""
    heads: list[ForgedHead] = [([[[1, 2], [3, 5]]], [1, 0]), ([[[2, 7], [0, 1]]], [1, 1])]
    return EXPONENTIAL.certificate(UNIT, UNIT, heads)


@forged("zero-residue", P11_12)
def zero_residue_in_sum_profile() -> Document:
    heads: list[ForgedHead] = [([[[1, 2], [3, 5]]], [1, -1]), ([[[2, 7], [0, 1]]], [1, 1])]
    return EXPONENTIAL.certificate(UNIT, UNIT, heads)


@forged("equal-poles", P21)
def equal_poles_in_later_profile() -> Document:
    heads: list[ForgedHead] = [([[[1, 2], [3, 5]]], [1, 2]), ([[[2, 7], [3, 1]]], [1, 1])]
    return EXPONENTIAL.certificate(UNIT, UNIT, heads)


@forged("equal-poles", P1_22)
def equal_poles_in_sum_profile() -> Document:
    heads: list[ForgedHead] = [([[[1, 2], [3, 5]]], [1, 2]), ([[[2, 6], [4, 1]]], [1, 1])]
    return EXPONENTIAL.certificate(UNIT, UNIT, heads)


@forged("ambiguous", MATCH_2)
def ambiguous_matching() -> Document:
    """Logits (0, 1), (1, 5), (2, 3): 0 + 5 = 2 + 3."""
    heads: list[ForgedHead] = [
        ([[[0, 1], [0, 0]]], [1, 2]),
        ([[[1, 5], [1, 1]]], [1, 1]),
        ([[[2, 3], [5, 7]]], [3, 1]),
    ]
    return EXPONENTIAL.certificate(UNIT, UNIT, heads)


@forged("ambiguous", MATCH_21)
def ambiguous_matching_in_later_row() -> Document:
    heads: list[ForgedHead] = [
        ([[[0, 1], [1, 0]]], [1, 2]),
        ([[[1, 9], [5, 1]]], [1, 1]),
        ([[[2, 4], [3, 7]]], [3, 1]),
    ]
    return EXPONENTIAL.certificate(UNIT, UNIT, heads)


# answers


@attack((R, E), "interpolant", P11)
def answer_altered(c: Document) -> None:
    answers = c["steps"][P11]["answers"]
    if isinstance(answers[0], str):
        answers[0] = add(answers[0], Fraction(1, 2))
    else:
        answers[0][0] = add(answers[0][0], 1)


@attack((Q,), "interpolant", P21)
def answer_altered_by_a_root(c: Document) -> None:
    answer = c["steps"][P21]["answers"][2]
    answer[1] = add(answer[1], 1)


@attack(E, "interpolant", P21)
def answer_altered_in_a_power(c: Document) -> None:
    term = c["steps"][P21]["answers"][2][-1]
    term[2] = add(term[2], 1)


@attack((R, Q, E), "interpolant", P1_22)
def last_answer_altered(c: Document) -> None:
    answers = c["steps"][P1_22]["answers"]
    answers[-1] = answers[0]


@attack("exponential-bound-3", "interpolant", P1_22)
def answer_beyond_the_true_number_altered(c: Document) -> None:
    """With H = 2 and T = 3 the last two answers of a profile are not needed to find it."""
    answers = c["steps"][P1_22]["answers"]
    answers[-1][0] = add(answers[-1][0], 1)


@attack((R, Q, E), "interpolant", P12)
def answers_swapped(c: Document) -> None:
    answers = c["steps"][P12]["answers"]
    answers[0], answers[1] = answers[1], answers[0]


@attack((R, Q, E), "interpolant", P11)
def all_answers_constant(c: Document) -> None:
    base = c["steps"][BASE]["answer"]
    for step in profiles(c):
        step["answers"] = [base] * len(step["answers"])


@attack(R, "interpolant", P11)
def all_answers_zero(c: Document) -> None:
    c["steps"][BASE]["answer"] = "0"
    for step in profiles(c):
        step["answers"] = ["0"] * len(step["answers"])


@attack(R, "matching", MATCH_2)
def answers_altered_interpolant_adjusted(c: Document) -> None:
    shift_residues(c, P11, (1, -1))


@attack(R, "readout", READOUT)
def answers_altered_interpolants_of_first_row_adjusted(c: Document) -> None:
    for place in (P11, P11_12):
        shift_residues(c, place, (1, 2))


@attack(R, "base", READOUT)
def answers_altered_readout_adjusted(c: Document) -> None:
    for place in (P11, P11_12):
        shift_residues(c, place, (1, 2))
    solve_readout(c)


@attack(R, "matching", MATCH_21)
def answers_altered_readout_adjusted_sum_kept(c: Document) -> None:
    """All of the first row is consistent, and s is the old one: only the residues of later rows object."""
    for place in (P11, P11_12):
        shift_residues(c, place, (1, -1))
    solve_readout(c)


@attack(R, "matching", MATCH_2)
def residues_of_sum_profile_altered_answers_adjusted(c: Document) -> None:
    shift_residues(c, P11_12, (1, -1))


@attack(R, "matching", MATCH_21)
def residues_of_later_profile_altered_answers_adjusted(c: Document) -> None:
    shift_residues(c, P21, (1, -1))


@attack(R, "matching", MATCH_22)
def residues_of_later_sum_profile_altered_answers_adjusted(c: Document) -> None:
    shift_residues(c, P1_22, (0, 1))


def _shift_pole(c: Document, places: Iterable[int]) -> None:
    for place in places:
        exponent = c["steps"][place]["exponents"][0]
        exponent[0] = add(exponent[0], 1)
        answer_again(c, place)


@attack(R, "matching", MATCH_22)
def pole_altered_answers_adjusted(c: Document) -> None:
    _shift_pole(c, [P22])


@attack(R, "heads", HEADS)
def poles_altered_answers_adjusted(c: Document) -> None:
    _shift_pole(c, [P22, P1_22])


@attack(R, "heads", HEADS)
def weights_of_another_model(c: Document) -> None:
    """The first head's row b_2 is another one, in all poles and answers; W is still the old one."""
    _shift_pole(c, [P21, P1_21, P22, P1_22])


@attack((R, Q, E), "interpolant", P11)
def base_altered(c: Document) -> None:
    base = c["steps"][BASE]["answer"]
    if isinstance(base, str):
        c["steps"][BASE]["answer"] = add(base, 1)
    else:
        base[0] = add(base[0], 1)


@attack((R, E), "base", READOUT)
def base_and_first_row_shifted(c: Document) -> None:
    steps = c["steps"]

    def shifted(value: Any) -> Any:
        return add(value, 1) if isinstance(value, str) else [add(value[0], 1), *value[1:]]

    steps[BASE]["answer"] = shifted(steps[BASE]["answer"])
    for place in (P11, P12, P11_12):
        steps[place]["answers"] = [shifted(x) for x in steps[place]["answers"]]


@attack(E, "interpolant", P11)
def base_with_a_term(c: Document) -> None:
    c["steps"][BASE]["answer"].append(["1", "1", "1", "1"])


@attack((R, Q, E), "readout", READOUT)
def readout_sum_altered(c: Document) -> None:
    s = c["steps"][READOUT]["s"]
    s[0][0] = add(s[0][0], 1)


@attack(R, "readout", READOUT)
def readout_sum_and_later_answers_altered(c: Document) -> None:
    s = c["steps"][READOUT]["s"]
    s[1][0] = add(s[1][0], 1)
    for place in (P21, P1_21, P22, P1_22):
        answer_again(c, place)


@attack((R, Q, E), "readout", READOUT)
def readout_altered(c: Document) -> None:
    v = c["steps"][READOUT]["v"]
    v[1][0][0] = add(v[1][0][0], 1)


@attack(R, "readout", READOUT)
def readouts_altered_sum_kept(c: Document) -> None:
    v = c["steps"][READOUT]["v"]
    v[0][1][0], v[1][1][0] = add(v[0][1][0], 1), add(v[1][1][0], -1)


@attack((R, Q, E), "interpolant", P21)
def residue_altered(c: Document) -> None:
    residue = c["steps"][P21]["residues"][0]
    residue[0] = add(residue[0], 1)


@attack((R, Q, E), "interpolant", P11)
def poles_inverted(c: Document) -> None:
    step = c["steps"][P11]
    step["exponents"] = [[text(-number(e)) for e in exponent] for exponent in step["exponents"]]


# other runs


@attack(R, "readout", READOUT)
def replayed_design(c: Document, accepted: dict[str, Document]) -> None:
    """The tokens of another run: nothing in the first row depends on them."""
    c["steps"][TOKENS] = deepcopy(accepted["rational-two-heads-other-run"]["steps"][TOKENS])


@attack(R, "readout", READOUT)
def replayed_displacements(c: Document, accepted: dict[str, Document]) -> None:
    c["steps"][TOKENS]["u"] = accepted["rational-two-heads-other-run"]["steps"][TOKENS]["u"]


@attack(R, "interpolant", P11)
def replayed_answers(c: Document, accepted: dict[str, Document]) -> None:
    for mine, other in zip(c["steps"], accepted["rational-two-heads-other-run"]["steps"], strict=True):
        for key in ("answer", "answers"):
            if key in mine:
                mine[key] = other[key]


@attack(R, "readout", READOUT)
def replayed_profiles(c: Document, accepted: dict[str, Document]) -> None:
    other = deepcopy(accepted["rational-two-heads-other-run"]["steps"])
    c["steps"][BASE:READOUT] = other[BASE:READOUT]


@attack(R, "interpolant", P21)
def replayed_later_rows(c: Document, accepted: dict[str, Document]) -> None:
    other = deepcopy(accepted["rational-two-heads-other-run"]["steps"])
    c["steps"][P21:HEADS] = other[P21:HEADS]


@attack(R, "heads", HEADS)
def heads_of_another_model(c: Document, accepted: dict[str, Document]) -> None:
    """The heads of the instance with two heads that are not canonical."""
    other = accepted["rational-not-canonical"]
    c["steps"][HEADS] = deepcopy(other["steps"][HEADS])


@attack(R, "base", READOUT)
def final_tokens_swapped(c: Document) -> None:
    c["steps"][TOKENS]["b"].reverse()


@attack(R, "readout", READOUT)
def displacements_swapped(c: Document) -> None:
    c["steps"][TOKENS]["u"].reverse()


@attack((R, Q, E), "transcript", CONCLUSION, sealed=False)
def transcript_hash_wrong(c: Document) -> None:
    first = c["transcript"][0]
    c["transcript"] = ("0" if first != "0" else "1") + c["transcript"][1:]


@attack(R, "transcript", CONCLUSION, sealed=False)
def transcript_of_another_run(c: Document, accepted: dict[str, Document]) -> None:
    c["transcript"] = accepted["rational-two-heads-other-run"]["transcript"]


@attack(R, "transcript", CONCLUSION, sealed=False)
def transcript_without_base(c: Document) -> None:
    lines = []
    tokens = {side: [[int(x, 16) for x in token] for token in c["steps"][TOKENS][side]] for side in "bu"}
    for step in profiles(c):
        named = [[text(x) for x in total(tokens[side], step[side])] for side in "bu"]
        lines.append(canonical([*named, step["answers"]]))
    c["transcript"] = hashlib.sha256(b"".join(lines)).hexdigest()


@attack(R, "transcript", CONCLUSION, sealed=False)
def transcript_with_names_for_tokens(c: Document) -> None:
    lines = [canonical([c["steps"][TOKENS]["b"][0], c["steps"][BASE]["answer"]])]
    lines += [canonical([step["b"], step["u"], step["answers"]]) for step in profiles(c)]
    c["transcript"] = hashlib.sha256(b"".join(lines)).hexdigest()


# order


@attack(R, "order", MATCH_2)
def reference_forward(c: Document) -> None:
    c["steps"][MATCH_2]["first"] = P21


@attack(R, "order", MATCH_2)
def reference_to_itself(c: Document) -> None:
    c["steps"][MATCH_2]["sum"] = MATCH_2


@attack(R, "order", MATCH_22)
def reference_to_another_profile(c: Document) -> None:
    c["steps"][MATCH_22]["first"] = P11


@attack(R, "order", MATCH_2)
def references_swapped(c: Document) -> None:
    match = c["steps"][MATCH_2]
    match["first"], match["other"] = match["other"], match["first"]


@attack(R, "order", P21)
def steps_reordered(c: Document) -> None:
    steps = c["steps"]
    steps[P21:HEADS] = steps[P22:HEADS] + steps[P21:P22]


ATTACKS["base-before-tokens"] = Attack(
    lambda accepted: _reordered(accepted[R], [BASE, TOKENS]), "order", f"step {TOKENS}"
)
ATTACKS["heads-before-profiles"] = Attack(
    lambda accepted: _reordered(accepted[R], [TOKENS, BASE, HEADS]), "order", f"step {P11}"
)
ATTACKS["conclusion-first"] = Attack(lambda accepted: _reordered(accepted[R], [CONCLUSION]), "order", f"step {TOKENS}")


def _reordered(document: Document, first: Sequence[int]) -> Document:
    """Return a certificate with some steps put first, its transcript as it was."""
    steps = document["steps"]
    order = [*first, *(n for n in range(len(steps)) if n not in first)]
    return {**deepcopy(document), "steps": [deepcopy(steps[n]) for n in order]}


@attack(R, "order", P22)
def profile_repeated(c: Document) -> None:
    c["steps"][P22] = deepcopy(c["steps"][P21])


@attack(R, "matching", MATCH_22)
def profile_repeated_under_another_name(c: Document) -> None:
    for key in CONTENT:
        c["steps"][P22][key] = deepcopy(c["steps"][P21][key])


@attack(R, "order", P21)
def profiles_exchanged(c: Document) -> None:
    steps = c["steps"]
    steps[P21], steps[P22] = steps[P22], steps[P21]


@attack(R, "order", P1_21)
def match_in_place_of_profile(c: Document) -> None:
    c["steps"][P1_21] = deepcopy(c["steps"][MATCH_21])


@attack(R, "order", MATCH_21)
def kind_changed(c: Document) -> None:
    c["steps"][MATCH_21]["kind"] = "readout"


@attack(R, "order", MATCH_21)
def kind_unknown(c: Document) -> None:
    c["steps"][MATCH_21]["kind"] = "trust"


@attack(R, "order", P11_12)
def sum_profile_not_a_sum(c: Document) -> None:
    c["steps"][P11_12]["u"] = [2]


@attack(R, "order", P1_22)
def sum_profile_names_reversed(c: Document) -> None:
    c["steps"][P1_22]["b"] = [2, 1]


@attack("rational-by-hand", "order", 2)
def true_for_one_in_b(c: Document) -> None:
    """In Python, True == 1."""
    c["steps"][2]["b"] = [True]


@attack(R, "order", P11_12)
def true_for_one_in_u(c: Document) -> None:
    c["steps"][P11_12]["u"] = [True, 2]


@attack(R, "order", P12, sealed=False)
def step_that_is_no_object(c: Document) -> None:
    c["steps"][P12] = "profile"


# fields


@attack(R, "field", "the header")
def base_not_coprime(c: Document) -> None:
    """Over 2 and 6 = 2·3 every number is still right."""
    change_base(c, [2, 6], [[1, 0], [-1, 1]])


ATTACKS["equal-poles-hidden-by-dependent-base"] = Attack(
    lambda _accepted: Forger({"name": "rational", "base": ["2", "4"]}).certificate(
        [[1]], [[1]], [([[[2]], [[0]]], [1]), ([[[0]], [[1]]], [2])]
    ),
    "field",
    "the header",
)
ATTACKS["step-missing-kind"] = Attack(lambda accepted: _without_kind(accepted[R]), "order", f"step {BASE}")


def _without_kind(document: Document) -> Document:
    changed = deepcopy(document)
    del changed["steps"][BASE]["kind"]
    return changed


ATTACKS["base-of-one"] = Attack(
    lambda _accepted: Forger({"name": "rational", "base": ["1"]}).certificate(
        [[1]], [[1]], [([[[1]]], [1]), ([[[2]]], [2])]
    ),
    "field",
    "the header",
)


@attack(R, "field", "the header")
def base_negative(c: Document) -> None:
    c["field"]["base"][0] = "-2"


@attack("rational-no-heads", "field", "the header")
def base_zero(c: Document) -> None:
    c["field"]["base"] = ["0"]


@attack(R, "interpolant", P11)
def base_number_changed(c: Document) -> None:
    c["field"]["base"][1] = "5"


@attack(R, "interpolant", P11)
def base_numbers_swapped(c: Document) -> None:
    c["field"]["base"].reverse()


@attack(Q, "field", "the header")
def beta_a_perfect_power(c: Document) -> None:
    """√2 as a fourth root of 4: every number is still right, but its coordinates are not unique."""
    c["field"].update(beta="4", order=4)
    map_scalars(c, lambda scalar: [*scalar, "0", "0"])
    W = c["steps"][HEADS]["W"]
    c["steps"][HEADS]["W"] = [
        [[[text(number(x) / 2) for x in row] for row in matrix] for matrix in matrices] for matrices in W
    ]


@attack("radical-three-halves", "field", "the header")
def beta_a_rational_square(c: Document) -> None:
    c["field"]["beta"] = "9/4"


@attack(Q, "field", "the header")
def beta_one(c: Document) -> None:
    c["field"]["beta"] = "1"


@attack(Q, "field", "the header")
def beta_zero(c: Document) -> None:
    c["field"]["beta"] = "0"


@attack(Q, "field", "the header")
def beta_negative(c: Document) -> None:
    c["field"]["beta"] = "-2"


@attack((Q,), "interpolant", P11)
def beta_changed(c: Document) -> None:
    c["field"]["beta"] = "3"


@attack("radical-over-a-larger-field", "interpolant", P11)
def order_changed(c: Document) -> None:
    """Order 3 in place of 4, the last (zero) coordinates cut off."""
    c["field"]["order"] = 3
    map_scalars(c, lambda scalar: scalar[:3])


@attack(E, "field", "the header")
def radicand_zero(c: Document) -> None:
    c["field"]["radicand"] = "0"


@attack(E, "field", "the header")
def radicand_negative(c: Document) -> None:
    c["field"]["radicand"] = "-1"


@attack(E, "field", "the header")
def denominator_zero(c: Document) -> None:
    c["field"]["denominator"] = "0"


@attack(E, "heads", HEADS)
def denominator_changed(c: Document) -> None:
    c["field"]["denominator"] = "1"


# rivals with the same first row

RIVAL_B, RIVAL_U = [[1, 0], [0, 1]], [[1, 1], [2, -1]]
TRUE_HEADS: list[ForgedHead] = [([[[1, 2], [3, 5]]], [1, 1]), ([[[2, 7], [0, 1]]], [1, -3])]
RIVAL_HEADS: list[ForgedHead] = [([[[1, 2], [4, -5]]], [1, 1]), ([[[2, 7], [6, 2]]], [1, -3])]


@forged("heads", HEADS)
def rival_weights_with_the_same_first_row() -> Document:
    document = EXPONENTIAL.certificate(RIVAL_B, RIVAL_U, TRUE_HEADS)
    document["steps"][HEADS] = EXPONENTIAL.certificate(RIVAL_B, RIVAL_U, RIVAL_HEADS)["steps"][HEADS]
    return document


@forged("interpolant", P21)
def rival_answers_after_the_same_first_row() -> Document:
    document = EXPONENTIAL.certificate(RIVAL_B, RIVAL_U, TRUE_HEADS)
    rival = EXPONENTIAL.certificate(RIVAL_B, RIVAL_U, RIVAL_HEADS)
    for place in (P21, P1_21, P22, P1_22):
        document["steps"][place]["answers"] = rival["steps"][place]["answers"]
    seal(document)
    return document


@forged("heads", HEADS)
def rival_later_rows_with_true_weights() -> Document:
    document = EXPONENTIAL.certificate(RIVAL_B, RIVAL_U, TRUE_HEADS)
    rival = EXPONENTIAL.certificate(RIVAL_B, RIVAL_U, RIVAL_HEADS)
    document["steps"][P21:HEADS] = rival["steps"][P21:HEADS]
    seal(document)
    return document
