"""What fails for Transformers without bias-free neurons, F1, F2 or two-sided lines (`proofs/transformer-canonical`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from flint import fmpq, nmod_mat

from exactmha.counterexamples.setting import Degenerate, Setting
from exactmha.errors import ExactMHAError, InputError
from exactmha.fields.values import ExactValue
from exactmha.heads import Head
from exactmha.limits import DEFAULT_LIMITS, Limits
from exactmha.oracle import Oracle
from exactmha.outcome import Claim, Evidence, Outcome
from exactmha.recover.sample import add
from exactmha.sequences import Token, TokenSequence
from exactmha.transformer.equivalence import equivalent
from exactmha.transformer.evaluate import TransformerAnswer
from exactmha.transformer.form import Weights
from exactmha.transformer.learn import learn_transformer
from exactmha.transformer.model import Transformer
from exactmha.transformer.sign import sign
from exactmha.transformer.symmetry import negated

_DRAWS = 60
_QUERIES = 12
_SEARCHED = 300
Neuron = tuple[int, Sequence[Sequence[int]]]
"""(a, μ): the neuron a·ReLU(Σ_h μ_h·A_h(X))."""


@dataclass(frozen=True)
class NetworkExample:
    """One or two Transformers, what is said about them, and the claims, all decided exactly."""

    models: tuple[Transformer, ...]
    statement: str
    reason: str
    claims: tuple[Claim, ...]

    @property
    def outcome(self) -> Outcome:
        """Holds when every claim does."""
        return Outcome.every(claim.outcome for claim in self.claims)


@dataclass(frozen=True)
class NetworkAssumption:
    """One hypothesis about the Transformer, and how to break what needs it."""

    name: str
    dropped: str
    least: tuple[int, int]
    """the least H and d for which the construction exists"""
    construct: Callable[[Setting, Limits], NetworkExample]

    def build(self, setting: Setting, limits: Limits = DEFAULT_LIMITS) -> NetworkExample:
        """Build it, drawing again where small numbers happen to be degenerate; raises `InputError` when too small."""
        for option, value, least in (("--heads", setting.heads, self.least[0]), ("--dim", setting.dim, self.least[1])):
            if value < least:
                raise InputError(f"{self.name} needs at least {least}", field=option, value=value, hint="give more")
        for i in range(_DRAWS):
            try:
                return self.construct(replace(setting, seed=setting.seed + i), limits)
            except Degenerate:
                continue
        raise InputError("every draw was degenerate", field="--seed", value=setting.seed, hint="try another seed")


def transformer(setting: Setting, W: Sequence[Weights], neurons: Sequence[Neuron]) -> Transformer:
    """Return the Transformer with these neurons: row j of O_h is μ_{j,h}, and w is the identity."""
    count = range(len(neurons))
    return Transformer(
        setting.field,
        setting.dim,
        tuple(W),
        tuple(tuple(tuple(map(fmpq, neurons[j][1][h])) for j in count) for h in range(len(W))),
        tuple(tuple(fmpq(int(i == j)) for i in count) for j in count),
        tuple(fmpq(a) for a, _ in neurons),
    )


def absolute(a: int, mu: Sequence[Sequence[int]]) -> list[Neuron]:
    """Return a|⟨μ, A⟩| as a·ReLU(g) + a·ReLU(−g)."""
    return [(a, mu), (a, [[-x for x in block] for block in mu])]


def _weights(setting: Setting, count: int) -> list[Weights]:
    return [head.W for head in setting.some_heads(count)]


def _blocks(setting: Setting, **at: Sequence[int]) -> list[list[int]]:
    """Return a vector of R^{Hd} with the given blocks, h1 being that of head 1, and 0 elsewhere."""
    zero = [0] * setting.dim
    return [list(at.get(f"h{h + 1}", zero)) for h in range(setting.heads)]


def _common(setting: Setting) -> list[Neuron]:
    """Return one neuron that sees every head, so that F1 holds."""
    return [(1, [setting.vector() for _ in range(setting.heads)])]


# --- claims ----------------------------------------------------------------------------------------


def _queries(setting: Setting, lengths: Sequence[int]) -> list[TokenSequence]:
    return [TokenSequence([(setting.vector(), 1) for _ in range(lengths[i % len(lengths)])]) for i in range(_QUERIES)]


def _agree(
    models: Sequence[Transformer], queries: Sequence[TokenSequence], what: str, why: str, limits: Limits
) -> Claim:
    """Both give the same answers to queries that the reason covers; tried exactly on some."""
    first, second = (TransformerAnswer(model, limits) for model in models)
    outcome = Outcome.every(first(query).equals(second(query)) for query in queries)
    statement = f"both models give the same answer to {what}"
    return Claim("agree", statement, outcome, Evidence.PROVED, f"{why}; {len(queries)} of them compared exactly")


def _odd_parts_agree(models: Sequence[Transformer], limits: Limits, setting: Setting) -> Claim:
    first, second = (TransformerAnswer(model, limits) for model in models)
    outcome = Outcome.every(
        (first(x) - first(negated(x))).equals(second(x) - second(negated(x))) for x in _queries(setting, (1, 2, 3))
    )
    statement = "T(X) − T(−X) is the same for both on every query"
    evidence = f"equal (W, Λ): proofs/transformer-canonical; {_QUERIES} queries compared exactly"
    return Claim("odd-part", statement, outcome, Evidence.PROVED, evidence)


def _differ(models: Sequence[Transformer], limits: Limits, setting: Setting) -> Claim:
    """Find a query on which they differ, exactly."""
    first, second = (TransformerAnswer(model, limits) for model in models)
    for attempt in range(_SEARCHED):
        query = TokenSequence([(setting.vector(), 1) for _ in range(2 + attempt % 3)])
        if first(query).equals(second(query)) is Outcome.FAILS:
            statement = f"they differ on a query of length {len(query)}: {[token for token, _ in query.runs]}"
            return Claim("differ", statement, Outcome.HOLDS, Evidence.CERTIFIED, "exact evaluation")
    raise Degenerate("no query was found on which the models differ")


def _learner_says(model: Transformer, expected: str, limits: Limits, about: str = "") -> Claim:
    """The learner, told the true H and L, names the condition; `about` says in which of two models."""
    form = model.canonical()
    oracle = Oracle(TransformerAnswer(model, limits), model.field, model.dim)
    try:
        recovery = learn_transformer(oracle, heads=len(form.W), lines=len(form.lines))
    except ExactMHAError as error:
        said = str(error)
    else:
        said = "F1 fails, recovered in a cell" if recovery.hidden and recovery.form == form else "recovered"
    outcome = Outcome.of(expected in said)
    return Claim("learner", f"the learner notices{about}: {expected}", outcome, Evidence.COMPUTED, said)


# --- constructions ---------------------------------------------------------------------------------


def biased_network(setting: Setting, limits: Limits) -> NetworkExample:
    """T_c(X) = ReLU(⟨μ, A⟩ + c): with a bias c ≠ 0 the samples of T_c(X) − T_c(−X) are those of no plain attention.

    One neuron; H heads; the queries "k copies of b + u, then b", k = 0..2H+1. The answers are T_c(X) − T_c(−X).
    """
    W = _weights(setting, setting.heads)
    model = transformer(setting, W, _common(setting))
    bias = setting.field.embed(setting.scalar(1 + setting.stream.below(6)))
    inner = TransformerAnswer(model, limits)

    def answer(query: Sequence[Token]) -> ExactValue:
        shifted = inner.inputs(query)[0] + bias
        return shifted if sign(shifted) > 0 else setting.field.embed(setting.scalar(0))

    b, u = setting.vector(), setting.vector()
    terms = setting.heads
    queries = [TokenSequence.copies(k, add(b, u), b) for k in range(2 * terms + 2)]
    values = [answer(query) - answer(negated(query)) for query in queries]
    place = setting.field.place(0, 1)
    f, p = [int(value.image(place)) for value in values], place.prime
    rows = [[(f[x] - f[y]) * pow(x - y, -1, p) % p for y in range(1, len(f), 2)] for x in range(0, len(f), 2)]
    if not int(nmod_mat(rows, p).det()):
        raise Degenerate("the Loewner matrix is singular modulo p")
    oracle = Oracle(answer, setting.field, setting.dim)
    try:
        learn_transformer(oracle, heads=terms, lines=1)
        outcome, said = Outcome.FAILS, "the learner returned a Transformer without bias"
    except ExactMHAError as error:
        outcome, said = Outcome.HOLDS, str(error)
    return NetworkExample(
        (model,),
        f"with the bias {bias} added to the neuron's input, T(X) − T(−X) is no plain attention with at most {terms} "
        "heads, so the symmetry stage has nothing to learn from",
        "ReLU(g + c) − ReLU(−g + c) is 2g where |g| < c and sgn(g)·(|g| + c) elsewhere, which is not linear in g",
        (
            Claim(
                "no-profile",
                f"{len(values)} samples of T(X) − T(−X) are those of no function (P) with {terms} or fewer terms",
                Outcome.HOLDS,
                Evidence.CERTIFIED,
                f"the Loewner determinant is not 0 (proofs/loewner-rank); b = {b}, u = {u}",
            ),
            Claim("learner", "the learner returns no model", outcome, Evidence.COMPUTED, said),
        ),
    )


def cancelling_lines(setting: Setting, limits: Limits) -> NetworkExample:
    """|y·(A_1 − A_2)| + |y·(A_2 − A_3)| − |y·(A_1 − A_3)| = 0 for W_h = W_0 + λ_h x yᵀ, λ_1 > λ_2 > λ_3."""
    W_0, *others = _weights(setting, setting.heads - 2)
    base = Head(W_0, (setting.scalar(0),) * setting.dim)
    x, y = setting.vector(), setting.vector()
    W = [setting.changed(base, [factor * c for c in x], y).W for factor in (2, 1, 0)] + others
    if len(set(W)) < setting.heads:
        raise Degenerate("two heads were drawn equal")
    minus = [-c for c in y]
    lines = [
        *absolute(1, _blocks(setting, h1=y, h2=minus)),
        *absolute(1, _blocks(setting, h2=y, h3=minus)),
        *absolute(-1, _blocks(setting, h1=y, h3=minus)),
    ]
    common = _common(setting)
    models = transformer(setting, W, [*common, *lines]), transformer(setting, W, common)
    forms = [model.canonical() for model in models]
    verdict = equivalent(*models)
    return NetworkExample(
        models,
        "three lines that are invisible on single tokens cancel identically: different canonical forms, one function",
        "y·A_h is monotone in λ_h, since its derivative is (b·x)·Var(y·x_i); and |u| + |v| = |u + v| where u, v have "
        "no opposite signs",
        (
            _agree(models, _queries(setting, (1, 2, 3, 4)), "every query", "proofs/transformer-canonical", limits),
            Claim(
                "canonical",
                f"their canonical forms differ: {len(forms[0].lines)} lines and {len(forms[1].lines)}",
                Outcome.of(forms[0] != forms[1]),
                Evidence.CERTIFIED,
                "exact comparison",
            ),
            Claim(
                "honest",
                "comparing the forms does not call them different: every line left over has n = 0",
                Outcome.of(verdict.outcome is Outcome.UNDECIDED),
                Evidence.COMPUTED,
                verdict.reason,
            ),
        ),
    )


def invisible_neuron(setting: Setting, limits: Limits) -> NetworkExample:
    """|y·(A_1 − A_2)| has n = y − y = 0: no single token shows it, and neither does the odd part."""
    W, y = _weights(setting, setting.heads), setting.vector()
    hidden = absolute(1, _blocks(setting, h1=y, h2=[-c for c in y]))
    common = _common(setting)
    models = transformer(setting, W, [*common, *hidden]), transformer(setting, W, common)
    return NetworkExample(
        models,
        "a neuron that compares two heads is invisible on single tokens, where all heads agree, and in T(X) − T(−X)",
        "on a single token x every A_h is x, so ⟨ν, A⟩ = n·x = 0; and a pair ReLU(g) + ReLU(−g) is even",
        (
            _agree(models, _queries(setting, (1,)), "every single token", "n = 0", limits),
            _odd_parts_agree(models, limits, setting),
            _differ(models, limits, setting),
            _learner_says(models[0], "F2", limits),
        ),
    )


def parallel_neurons(setting: Setting, limits: Limits) -> NetworkExample:
    """|y·A_1| + |y·A_2| against |y·(A_1 + A_2)|: one bend, one jump of the gradient."""
    W, y = _weights(setting, setting.heads), setting.vector()
    common = _common(setting)
    apart = [*absolute(1, _blocks(setting, h1=y)), *absolute(1, _blocks(setting, h2=y))]
    together = absolute(1, _blocks(setting, h1=y, h2=y))
    models = transformer(setting, W, [*common, *apart]), transformer(setting, W, [*common, *together])
    return NetworkExample(
        models,
        "two lines with parallel n bend T at the same single tokens, and their jumps add up to that of one line",
        "they agree wherever y·A_1 and y·A_2 have no opposite signs: on all single tokens, and on every query that "
        "stays in its cell",
        (
            _agree(models, _queries(setting, (1,)), "every single token", "2|y·x| = |2y·x|", limits),
            _odd_parts_agree(models, limits, setting),
            _differ(models, limits, setting),
            _learner_says(models[0], "F2", limits),
        ),
    )


def hidden_head(setting: Setting, limits: Limits) -> NetworkExample:
    """|y·A_1| with W_1 and with another W_1': the odd part of both is that of the other heads."""
    W, y = _weights(setting, setting.heads + 1), setting.vector()
    common: list[Neuron] = [(1, [[0] * setting.dim, *(setting.vector() for _ in range(setting.heads - 1))])]
    neurons = [*(common if setting.heads > 1 else []), *absolute(1, _blocks(setting, h1=y))]
    rest = W[2:]
    models = transformer(setting, [W[0], *rest], neurons), transformer(setting, [W[1], *rest], neurons)
    return NetworkExample(
        models,
        "a head that only a pair ReLU(g) + ReLU(−g) uses has Λ = 0: the odd part does not show its W",
        "T(X) − T(−X) = 2⟨Λ, A⟩; the learner finds such a head inside a cell instead",
        (
            _odd_parts_agree(models, limits, setting),
            _differ(models, limits, setting),
            _learner_says(models[0], "F1 fails, recovered in a cell", limits, " in model 1"),
            _learner_says(models[1], "F1 fails, recovered in a cell", limits, " in model 2"),
        ),
    )


NETWORKS = (
    NetworkAssumption("biased-network", "neurons without bias", (1, 1), biased_network),
    NetworkAssumption("cancelling-lines", "n ≠ 0 in the canonical form of a Transformer", (3, 2), cancelling_lines),
    NetworkAssumption("invisible-neuron", "F2, n ≠ 0 for every neuron", (2, 2), invisible_neuron),
    NetworkAssumption("parallel-neurons", "F2, no two n parallel", (2, 2), parallel_neurons),
    NetworkAssumption("hidden-head", "F1, every head in the odd part", (1, 2), hidden_head),
)
"""What the Transformer's part needs, by name."""


def network_assumption(name: str) -> NetworkAssumption | None:
    """Return the entry of that name, or None."""
    return next((each for each in NETWORKS if each.name == name), None)
