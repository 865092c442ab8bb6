"""f(X) by literal softmax, in SymPy and in mpmath, without the package's fields.

A layer is drawn as integer coordinates of W on the logarithmic units of its field (log 2 and log 3;
(log β)/N; √n/N) with readouts v, and evaluated as Σ_h v_h · Σ_i softmax_i(x_n^T W_h x_i) x_i.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import mpmath
import pytest
import sympy
from flint import fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

from exactmha.attention import Attention, Model
from exactmha.errors import InputError, LimitError
from exactmha.fields import ExponentialField, RadicalField
from exactmha.instance import from_dict
from exactmha.limits import Limits
from exactmha.outcome import Outcome
from exactmha.sequences import Token, TokenSequence

REALS = mpmath.mp.clone()
REALS.dps = 90
DIGITS = 50
Rows = tuple[tuple[int, ...], ...]


def examples(count: int) -> Callable[[Any], Any]:
    return settings(derandomize=True, deadline=None, max_examples=count)


@dataclass(frozen=True)
class Kind:
    """A field by its logarithmic units, as text of the instance grammar, and its root γ if it has one."""

    name: str
    units: tuple[str, ...]
    root: str = ""
    fractional_tokens: bool = False


RATIONAL = Kind("rational", ("log(2)", "log(3)"))
RADICAL = Kind("radical", ("1/3*log(2)",), "root(2,3)")
SLANTED = Kind("radical", ("1/2*log(6)",), "root(6,2)")
TRUE_SOFTMAX = Kind("exponential", ("1/2",), fractional_tokens=True)
SCALED_SOFTMAX = Kind("exponential", ("1/3*sqrt(2)",), fractional_tokens=True)


@dataclass(frozen=True)
class Layer:
    """Heads (W, v): W one integer matrix per unit, v rational parts and, in a radical field, γ-parts."""

    kind: Kind
    dim: int
    heads: tuple[tuple[tuple[Rows, ...], tuple[tuple[Fraction, int], ...]], ...]

    def model(self) -> Model:
        heads = [
            {
                "W": [
                    [self._weight_text([unit[i][j] for unit in W]) for j in range(self.dim)] for i in range(self.dim)
                ],
                "v": [f"{q} + {c}*{self.kind.root}" if self.kind.root else str(q) for q, c in v],
            }
            for W, v in self.heads
        ]
        return from_dict({"format": "exactmha/instance/1", "field": self.kind.name, "dim": self.dim, "heads": heads})

    def _weight_text(self, coordinates: Sequence[int]) -> str:
        return " + ".join(f"{n}*{unit}" for n, unit in zip(coordinates, self.kind.units, strict=True))

    def value(self, tokens: Sequence[Sequence[Any]], weight: Callable[[list[Any]], Any], readout: Any) -> Any:
        """Evaluate literally; `weight` maps Σ-coordinates of a logit to exp(logit)."""
        last, total = tokens[-1], 0
        for W, v in self.heads:
            weights = [weight([bilinear(last, unit, token) for unit in W]) for token in tokens]
            norm = sum(weights[1:], weights[0])
            for w, token in zip(weights, tokens, strict=True):
                inner = sum(readout(q, c) * readout(x, 0) for (q, c), x in zip(v, token, strict=True))
                total = total + w / norm * inner
        return total


def bilinear(x: Sequence[Any], matrix: Rows, y: Sequence[Any]) -> Any:
    return sum(x[i] * matrix[i][j] * y[j] for i in range(len(x)) for j in range(len(y)))


@st.composite
def layers(draw: st.DrawFn, kind: Kind, dim: int, size: int = 2) -> Layer:
    rows = st.tuples(*[st.tuples(*[st.integers(-size, size)] * dim)] * dim)
    scalar = st.tuples(st.fractions(-3, 3, max_denominator=3), st.integers(-2, 2) if kind.root else st.just(0))
    head = st.tuples(st.tuples(*[rows] * len(kind.units)), st.tuples(*[scalar] * dim))
    heads = draw(st.lists(head, max_size=3))
    return Layer(kind, dim, tuple(heads))


def sequences(kind: Kind, dim: int, most: int = 5) -> st.SearchStrategy[list[tuple[Fraction, ...]]]:
    coordinate = st.integers(-3, 3).map(Fraction)
    if kind.fractional_tokens:
        coordinate |= st.fractions(-3, 3, max_denominator=5)
    token = st.tuples(*[coordinate] * dim)
    few_distinct = st.lists(token, min_size=1, max_size=2).flatmap(
        lambda pool: st.lists(st.sampled_from(pool), min_size=1, max_size=most)
    )
    return st.lists(token, min_size=1, max_size=most) | few_distinct


def exact_tokens(tokens: Sequence[Sequence[Fraction]]) -> list[Token]:
    return [
        tuple(x.numerator if x.denominator == 1 else fmpq(x.numerator, x.denominator) for x in token)
        for token in tokens
    ]


class TestAgainstSymPy:
    @examples(30)
    @given(st.data())
    def test_rational_field(self, data: st.DataObject) -> None:
        layer = data.draw(layers(RATIONAL, 2))
        tokens = data.draw(sequences(RATIONAL, 2))

        def weight(logit: list[Fraction]) -> sympy.Expr:
            return sympy.exp(int(logit[0]) * sympy.log(2) + int(logit[1]) * sympy.log(3))

        expected = sympy.nsimplify(layer.value(tokens, weight, lambda q, _: sympy.Rational(q)))
        assert expected.is_Rational
        value = Attention(layer.model())(exact_tokens(tokens))
        assert str(value) == str(expected)

    @pytest.mark.parametrize(("kind", "beta", "order"), [(RADICAL, 2, 3), (SLANTED, 6, 2)], ids=["2^(1/3)", "6^(1/2)"])
    def test_radical_field(self, kind: Kind, beta: int, order: int) -> None:
        K = sympy.QQ.algebraic_field(sympy.root(beta, order))
        gamma = K.from_sympy(sympy.root(beta, order))

        @examples(25)
        @given(layers(kind, 2), sequences(kind, 2))
        def check(layer: Layer, tokens: list[tuple[Fraction, ...]]) -> None:
            def weight(logit: list[Fraction]) -> Any:
                return gamma ** int(logit[0])

            def readout(q: Fraction, c: int) -> Any:
                return K.convert(sympy.QQ(q.numerator, q.denominator)) + K.convert(c) * gamma

            literal = layer.value(tokens, weight, readout) + K.zero
            expected = [fmpq(int(q.numerator), int(q.denominator)) for q in reversed(literal.to_list())]
            model = layer.model()
            field = RadicalField(fmpq(beta), order)
            assert model.field == field or not layer.heads
            value = Attention(Model(field, 2, model.heads))(exact_tokens(tokens))
            assert field.scalar(value) == (*expected, *[fmpq(0)] * (order - len(expected)))

        check()

    def test_the_teaching_example_by_hand(self) -> None:
        # heads (log 2, 1) and (log 3, 2); tokens 1, 1, −1 seen from −1: weights 1/2, 1/2, 2 and 1/3, 1/3, 3
        layer = Layer(
            RATIONAL,
            1,
            (
                ((((1,),), ((0,),)), ((Fraction(1), 0),)),
                ((((0,),), ((1,),)), ((Fraction(2), 0),)),
            ),
        )
        # (1/2 + 1/2 − 2)/3 = −1/3 and 2·(1/3 + 1/3 − 3)/(11/3) = −14/11
        assert str(Attention(layer.model())([(1,), (1,), (-1,)])) == str(Fraction(-1, 3) - Fraction(14, 11))


UNIT_VALUES = {
    "log(2)": REALS.log(2),
    "log(3)": REALS.log(3),
    "1/3*log(2)": REALS.log(2) / 3,
    "1/2*log(6)": REALS.log(6) / 2,
    "1/2": REALS.mpf(1) / 2,
    "1/3*sqrt(2)": REALS.sqrt(2) / 3,
}
ROOT_VALUES = {"": REALS.mpf(0), "root(2,3)": REALS.cbrt(2), "root(6,2)": REALS.sqrt(6)}


def real(q: Fraction | int) -> mpmath.mpf:
    return REALS.mpf(Fraction(q).numerator) / Fraction(q).denominator


def real_value(layer: Layer, tokens: Sequence[Sequence[Fraction]]) -> mpmath.mpf:
    units, root = [UNIT_VALUES[unit] for unit in layer.kind.units], ROOT_VALUES[layer.kind.root]

    def weight(logit: list[Fraction]) -> mpmath.mpf:
        return REALS.exp(sum(real(n) * unit for n, unit in zip(logit, units, strict=True)))

    return layer.value(tokens, weight, lambda q, c: real(q) + c * root)


def exact_real(x: Any) -> mpmath.mpf:
    mantissa, exponent = x.man_exp()
    return REALS.ldexp(REALS.mpf(int(mantissa)), int(exponent))


class TestAgainstMpmath:
    @pytest.mark.parametrize("dim", [1, 3])
    @pytest.mark.parametrize(
        "kind", [RATIONAL, RADICAL, SLANTED, TRUE_SOFTMAX, SCALED_SOFTMAX], ids=lambda kind: kind.units[0]
    )
    def test_fifty_digits(self, kind: Kind, dim: int) -> None:
        @examples(12)
        @given(layers(kind, dim), sequences(kind, dim))
        def check(layer: Layer, tokens: list[tuple[Fraction, ...]]) -> None:
            ball = Attention(layer.model())(exact_tokens(tokens)).enclosure(DIGITS)
            distance = abs(exact_real(ball.mid()) - real_value(layer, tokens))
            assert distance <= exact_real(ball.rad()) + REALS.mpf(10) ** -75
            assert ball.is_exact() or ball.rel_accuracy_bits() >= 3.32 * DIGITS

        check()

    def test_textbook_softmax(self) -> None:
        # W = 1, v = 1, tokens 1 and 0 seen from 1: e/(e + 1)
        model = from_dict({"format": "exactmha/instance/1", "dim": 1, "heads": [{"W": [["1"]], "v": ["1"]}]})
        ball = Attention(model)([(0,), (1,)]).enclosure(DIGITS)
        assert abs(exact_real(ball.mid()) - 1 / (1 + REALS.exp(-1))) < REALS.mpf(10) ** -DIGITS


def single(weight: str, readout: str = "1", **keys: str) -> Model:
    return from_dict({"format": "exactmha/instance/1", "dim": 1, "heads": [{"W": [[weight]], "v": [readout]}], **keys})


ALL_KINDS = pytest.mark.parametrize(
    "kind", [RATIONAL, RADICAL, SLANTED, TRUE_SOFTMAX, SCALED_SOFTMAX], ids=lambda kind: kind.units[0]
)


@ALL_KINDS
class TestSymmetries:
    def test_the_order_of_earlier_tokens_does_not_matter(self, kind: Kind) -> None:
        @examples(10)
        @given(st.data())
        def check(data: st.DataObject) -> None:
            attention = Attention(data.draw(layers(kind, 2)).model())
            *earlier, last = exact_tokens(data.draw(sequences(kind, 2, 4)))
            shuffled = data.draw(st.permutations(earlier))
            assert attention([*earlier, last]) == attention([*shuffled, last])

        check()

    def test_runs_equal_the_plain_list(self, kind: Kind) -> None:
        @examples(10)
        @given(st.data())
        def check(data: st.DataObject) -> None:
            attention = Attention(data.draw(layers(kind, 2)).model())
            tokens = exact_tokens(data.draw(sequences(kind, 2, 3)))
            counts = data.draw(st.lists(st.integers(0, 3), min_size=len(tokens), max_size=len(tokens)))
            counts[-1] += 1
            plain = [token for token, count in zip(tokens, counts, strict=True) for _ in range(count)]
            runs = TokenSequence(list(zip(tokens, counts, strict=True)))
            assert list(runs) == plain
            assert attention(runs) == attention(plain)

        check()

    def test_negating_every_token_negates_the_value(self, kind: Kind) -> None:
        @examples(8)
        @given(layers(kind, 2), sequences(kind, 2, 3))
        def check(layer: Layer, tokens: list[tuple[Fraction, ...]]) -> None:
            attention = Attention(layer.model())
            negated = [tuple(-x for x in token) for token in tokens]
            total = attention(exact_tokens(tokens)) + attention(exact_tokens(negated))
            assert total.is_zero() is Outcome.HOLDS

        check()

    def test_one_token_is_read_linearly(self, kind: Kind) -> None:
        @examples(8)
        @given(layers(kind, 2), st.tuples(st.integers(-5, 5), st.integers(-5, 5)))
        def check(layer: Layer, token: tuple[int, int]) -> None:
            attention = Attention(layer.model())
            s = [attention([(1, 0)]), attention([(0, 1)])]
            field = attention.model.field
            parts = [field.embed((fmpq(x), *[fmpq(0)] * (field.degree - 1))) * y for x, y in zip(token, s, strict=True)]
            assert attention([token] * 3) == parts[0] + parts[1]

        check()


class TestProfileIdentity:
    """(P): "k copies of b + u, then b" has value s·b + Σ_h c_h·k r_h/(1 + k r_h), r_h = exp(b^T W_h u), c_h = v_h·u."""

    def test_rational_field(self) -> None:
        @examples(30)
        @given(
            layers(RATIONAL, 2),
            st.tuples(*[st.integers(-4, 4)] * 2),
            st.tuples(*[st.integers(-4, 4)] * 2),
            st.integers(0, 7),
        )
        def check(layer: Layer, b: tuple[int, int], u: tuple[int, int], k: int) -> None:
            expected = Fraction(0)
            for W, v in layer.heads:
                r = Fraction(2) ** bilinear(b, W[0], u) * Fraction(3) ** bilinear(b, W[1], u)
                expected += sum(q * x for (q, _), x in zip(v, b, strict=True))
                expected += sum(q * x for (q, _), x in zip(v, u, strict=True)) * k * r / (1 + k * r)
            shifted = (b[0] + u[0], b[1] + u[1])
            assert str(Attention(layer.model())(TokenSequence.copies(k, shifted, b))) == str(expected)

        check()

    @pytest.mark.parametrize("size", [3, 10**30])
    def test_exponential_field_with_tokens_of_any_size(self, size: int) -> None:
        field = ExponentialField(1, 1)
        model = from_dict(
            {
                "format": "exactmha/instance/1",
                "dim": 2,
                "heads": [
                    {"W": [["1", "2"], ["0", "-1"]], "v": ["1", "3"]},
                    {"W": [["0", "1"], ["1", "0"]], "v": ["-2", "1/2"]},
                ],
            }
        )
        b, u, k = (size, 1), (2, size + 1), 3
        # b^T W_1 u = b_1 u_1 + 2 b_1 u_2 − b_2 u_2,  b^T W_2 u = b_1 u_2 + b_2 u_1;  s = (−1, 7/2)
        exponents = [
            b[0] * u[0] + 2 * b[0] * u[1] - b[1] * u[1],
            b[0] * u[1] + b[1] * u[0],
        ]
        residues = [fmpq(u[0] + 3 * u[1]), fmpq(-2 * u[0]) + fmpq(u[1], 2)]
        one, copies = field.embed((fmpq(1),)), field.embed((fmpq(k),))
        expected = field.embed((fmpq(-b[0]) + fmpq(7, 2) * b[1],))
        for n, c in zip(exponents, residues, strict=True):
            weight = copies * field.monomial((n,))
            expected += field.embed((c,)) * weight / (one + weight)
        value = Attention(model)(TokenSequence.copies(k, (b[0] + u[0], b[1] + u[1]), b))
        assert value.equals(expected) is Outcome.HOLDS
        assert value.equals(expected + one) is Outcome.FAILS


class TestDomain:
    def test_an_empty_sequence_is_refused(self) -> None:
        for empty in ([], TokenSequence([]), TokenSequence([((1,), 0)])):
            with pytest.raises(InputError, match="at least one token"):
                Attention(single("log(2)"))(empty)

    @pytest.mark.parametrize("model", [single("log(2)"), single("1/2*log(2)"), single("1/3*log(6)", "root(6,3)")])
    def test_weights_that_leave_the_field_are_refused(self, model: Model) -> None:
        with pytest.raises(InputError, match="relative logit is not integral") as caught:
            Attention(model)([(fmpq(1, 7),), (1,)])
        assert caught.value.hint == "use integer tokens"

    def test_fractional_tokens_with_integral_relative_logits(self) -> None:
        # seen from 2: exp(2·log 2·(1/2 − 2)) = 1/8, so (1/8·1/2 + 2)/(1/8 + 1) = (33/16)/(9/8)
        assert str(Attention(single("log(2)"))([(fmpq(1, 2),), (2,)])) == "11/6"

    def test_huge_logits_are_refused_only_where_they_cost(self) -> None:
        tokens = [(10**12,), (1,)]
        for model in (single("log(2)"), single("1/2*log(2)")):
            with pytest.raises(LimitError, match="value_bits"):
                Attention(model)(tokens)
        assert Attention(single("1"))(tokens).is_zero() is Outcome.FAILS

    @pytest.mark.parametrize(("weight", "most"), [("log(2)", 50), ("1/2*log(2)", 50), ("log(4)", 50)])
    def test_the_limit_bounds_one_weight(self, weight: str, most: int) -> None:
        model = single(weight)
        assert Attention(model, Limits(value_bits=10 * most))([(most,), (1,)]).is_zero() is Outcome.FAILS
        with pytest.raises(LimitError, match=f"more than {most // 10} bits"):
            Attention(model, Limits(value_bits=most // 10))([(most,), (1,)])

    @pytest.mark.parametrize("field", ["rational", "radical", "exponential"])
    def test_no_heads_is_the_zero_function(self, field: str) -> None:
        model = from_dict({"format": "exactmha/instance/1", "field": field, "dim": 2, "heads": []})
        assert Attention(model)([(1, 2), (3, 4)]).is_zero() is Outcome.HOLDS

    @pytest.mark.parametrize("field", ["rational", "radical", "exponential"])
    def test_zero_weights_average(self, field: str) -> None:
        # W = 0: the value is 3·(1 + 2 + 6)/3
        assert str(Attention(single("0", "3", field=field))([(1,), (2,), (6,)])) == "9"

    @pytest.mark.parametrize("field", ["rational", "radical", "exponential"])
    def test_equal_weights_of_copies_average(self, field: str) -> None:
        # three copies of 1 and one 5: (3·1 + 5)/4
        attention = Attention(single("0", field=field))
        assert str(attention(TokenSequence.copies(3, (1,), (5,)))) == "2"
        assert str(attention(TokenSequence([((1,), 1), ((5,), 3)]))) == "4"

    def test_answers_do_not_depend_on_earlier_questions(self) -> None:
        attention = Attention(single("log(3)"))
        first = str(attention([(1,), (2,)]))
        attention([(2,), (1,)])
        attention([(fmpq(2),), (fmpq(1),)])
        assert str(attention([(1,), (2,)])) == first == str(Attention(single("log(3)"))([(fmpq(1),), (fmpq(2),)]))


class TestTokenSequence:
    runs = TokenSequence([((1, 2), 2), ((3, 4), 0), ((5, 6), 3), ((1, 2), 1)])
    plain = ((1, 2), (1, 2), (5, 6), (5, 6), (5, 6), (1, 2))

    def test_behaves_as_the_plain_sequence(self) -> None:
        assert len(self.runs) == len(self.plain)
        assert tuple(self.runs) == self.plain
        assert tuple(reversed(self.runs)) == self.plain[::-1]
        assert [self.runs[i] for i in range(-6, 6)] == [self.plain[i] for i in range(-6, 6)]
        assert (5, 6) in self.runs
        assert (3, 4) not in self.runs
        assert self.runs.index((5, 6)) == 2
        assert self.runs.count((1, 2)) == 3

    @examples(60)
    @given(st.slices(6))
    def test_slices(self, part: slice) -> None:
        assert tuple(self.runs[part]) == self.plain[part]

    @pytest.mark.parametrize("index", [6, -7, 10**20])
    def test_out_of_range(self, index: int) -> None:
        with pytest.raises(IndexError):
            self.runs[index]

    def test_copies(self) -> None:
        assert list(TokenSequence.copies(2, (5, 1), (4, 0))) == [(5, 1), (5, 1), (4, 0)]
        assert list(TokenSequence.copies(0, (5, 1), (4, 0))) == [(4, 0)]
        assert len(TokenSequence.copies(10**15, (5, 1), (4, 0))) == 10**15 + 1
