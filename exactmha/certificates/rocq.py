"""Certificates as Rocq files: the main theorem for one transcript, its side conditions closed by computation.

The certificate is copied, number by number, into a file that `coqc` accepts if and only if the data prove the claim
(proofs/uniqueness-from-transcript). Hints are added, which the file checks as well: the adjugates of B and U, and the
factor that every answer cancels. Only the order of the steps and the lengths of lists that Rocq would not see are
checked here. Rocq computes no SHA-256: that of the transcript is computed here and compared there.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from math import gcd
from typing import Annotated, Any, Literal, NamedTuple

from flint import fmpq_mat, fmpz_mat
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, InstanceOf, ValidationError, ValidationInfo

from exactmha.certificates.write import canonical_json, hexadecimal
from exactmha.errors import InputError, LimitError
from exactmha.files import parse_json
from exactmha.instance import translated
from exactmha.limits import DEFAULT_LIMITS, Limits

HEX = re.compile(r"-?[1-9a-f][0-9a-f]*|0", re.ASCII)
DECIMAL_BITS = 64
"""Longer numbers are written in hexadecimal, which Rocq reads in linear time."""


class Rational(NamedTuple):
    """A rational as the certificate writes it; not reduced here."""

    top: int
    bottom: int


def _integer(text: Any, info: ValidationInfo) -> int:
    most: int = (info.context or {})["limits"].rocq_bits
    if not isinstance(text, str) or not HEX.fullmatch(text):
        raise ValueError("must be a string with an integer in canonical hexadecimal")
    if 4 * len(text) > most + 8:
        raise ValueError(f"has more than {most} bits (see --limit rocq_bits)")
    return int(text, 16)


def _positive(text: Any, info: ValidationInfo) -> int:
    number = _integer(text, info)
    if number < 1:
        raise ValueError("must be positive")
    return number


def _rational(text: Any, info: ValidationInfo) -> Rational:
    top, slash, bottom = text.partition("/") if isinstance(text, str) else (text, "", "")
    value = Rational(_integer(top, info), _positive(bottom, info) if slash else 1)
    if slash and (value.bottom == 1 or gcd(*value) != 1):
        raise ValueError("must be in lowest terms, without the denominator 1")
    return value


def _scalar(given: Any, info: ValidationInfo) -> Rational:
    if not isinstance(given, list) or len(given) != 1:
        raise ValueError("must be a list of one rational")
    return _rational(given[0], info)


Integer = Annotated[int, BeforeValidator(_integer)]
Positive = Annotated[int, BeforeValidator(_positive)]
Value = Annotated[InstanceOf[Rational], BeforeValidator(_rational)]
Scalar = Annotated[InstanceOf[Rational], BeforeValidator(_scalar)]
Natural = Annotated[int, Field(ge=0)]
Digest = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
_STRICT = ConfigDict(strict=True, extra="forbid")


class _Claim(BaseModel):
    model_config = _STRICT
    heads: Natural
    told: Natural
    bound: bool
    queries: Natural
    length: Natural


class _RationalField(BaseModel):
    model_config = _STRICT
    name: Literal["rational"]
    base: list[Positive]


class _Tokens(BaseModel):
    model_config = _STRICT
    kind: Literal["tokens"]
    b: list[list[Integer]]
    u: list[list[Integer]]


class _Base(BaseModel):
    model_config = _STRICT
    kind: Literal["base"]
    answer: Value


class _Profile(BaseModel):
    model_config = _STRICT
    kind: Literal["profile"]
    b: list[int]
    u: list[int]
    answers: list[Value]
    exponents: list[list[Integer]]
    residues: list[Scalar]


class _Match(BaseModel):
    model_config = _STRICT
    kind: Literal["match"]
    first: int
    other: int
    sum: int


class _Readout(BaseModel):
    model_config = _STRICT
    kind: Literal["readout"]
    v: list[list[Scalar]]
    s: list[Scalar]


class _Heads(BaseModel):
    model_config = _STRICT
    kind: Literal["heads"]
    W: list[list[list[list[Value]]]]


class _Counts(BaseModel):
    model_config = _STRICT
    C1: Integer
    C2: Integer
    C3: Integer
    C4: Integer


class _Conclusion(BaseModel):
    model_config = _STRICT
    kind: Literal["conclusion"]
    conditions: _Counts


_Step = _Tokens | _Base | _Profile | _Match | _Readout | _Heads | _Conclusion


class _Certificate(BaseModel):
    model_config = _STRICT
    format: Literal["exactmha/certificate/1"]
    claim: _Claim
    field: _RationalField
    dim: Annotated[int, Field(ge=1)]
    instance: Digest
    transcript: Digest
    steps: list[Annotated[_Step, Field(discriminator="kind")]]


class _Parts(NamedTuple):
    tokens: _Tokens
    base: _Base
    profiles: list[_Profile]
    readout: _Readout
    heads: _Heads
    conclusion: _Conclusion


def rocq_text(data: bytes, *, file: str, limits: Limits = DEFAULT_LIMITS) -> str:
    """Return the Rocq file of a certificate over the rational field.

    Raises `InputError` when the bytes are no certificate in canonical form (another field, steps in another order, W
    not in integers on the base), and `LimitError` beyond `limits.rocq_bits` or `limits.rocq_queries`. Whether the
    certificate is *right* is for `coqc` to say.
    """
    document = parse_json(data, file=file, limits=limits)
    try:
        if canonical_json(document) != data:
            raise InputError("is not in canonical form", hint="take the certificate as it was written")
        certificate = _validated(document, limits)
        parts = _in_order(certificate)
        _check_shapes(certificate, parts)
        _check_sizes(certificate, parts, limits)
        return "\n".join(_lines(certificate, parts, _transcript(parts, document["steps"]))) + "\n"
    except InputError as error:
        raise error.located(file=file) from None


def _validated(document: Any, limits: Limits) -> _Certificate:
    name = document.get("field", {}) if isinstance(document, dict) else {}
    if isinstance(name, dict) and name.get("name") in ("radical", "exponential"):
        raise InputError(
            "only certificates over the rational field can be exported",
            field="field.name",
            value=name["name"],
            hint="verify an instance with W in logarithms, e.g. --field rational",
        )
    try:
        return _Certificate.model_validate(document, context={"limits": limits})
    except ValidationError as error:
        raise translated(error) from None


# --- the steps, in the one order that SPECIFICATION.md allows --------------------------------------------------------


def _due(dim: int) -> Iterator[dict[str, Any]]:
    """Yield what must stand in each step, apart from the data."""
    yield {"kind": "tokens"}
    yield {"kind": "base"}
    yield {"kind": "profile", "b": [1], "u": [1]}
    where = {1: 2}
    count = 3
    for i in range(2, dim + 1):
        where[i] = count
        yield {"kind": "profile", "b": [1], "u": [i]}
        yield {"kind": "profile", "b": [1], "u": [1, i]}
        yield {"kind": "match", "first": 2, "other": count, "sum": count + 1}
        count += 3
    yield {"kind": "readout"}
    count += 1
    for j in range(2, dim + 1):
        for i in range(1, dim + 1):
            yield {"kind": "profile", "b": [j], "u": [i]}
            yield {"kind": "profile", "b": [1, j], "u": [i]}
            yield {"kind": "match", "first": where[i], "other": count, "sum": count + 1}
            count += 3
    yield {"kind": "heads"}
    yield {"kind": "conclusion"}


def _in_order(certificate: _Certificate) -> _Parts:
    due = list(_due(certificate.dim)) if len(certificate.steps) == 3 * certificate.dim**2 + 3 else []
    if not due:
        raise InputError("has another number of steps than dim needs", field="steps", value=len(certificate.steps))
    profiles: list[_Profile] = []
    found: dict[str, Any] = {}
    for position, (step, wanted) in enumerate(zip(certificate.steps, due, strict=True)):
        given = {key: getattr(step, key, None) for key in wanted}
        if given != wanted:
            raise InputError("is not the step whose turn it is", field=f"steps[{position}]", value=given)
        if isinstance(step, _Profile):
            profiles.append(step)
        elif not isinstance(step, _Match):
            found[step.kind] = step
    return _Parts(**found, profiles=profiles)


def _check_shapes(certificate: _Certificate, parts: _Parts) -> None:
    """Refuse list lengths that Rocq would not see; it compares the others itself."""
    dim, rank, heads = certificate.dim, len(certificate.field.base), len(parts.heads.W)
    _shaped(parts.tokens.b, (dim, dim), "tokens.b")
    _shaped(parts.tokens.u, (dim, dim), "tokens.u")
    _shaped(parts.readout.v, (heads, dim), "readout.v")
    _shaped(parts.readout.s, (dim,), "readout.s")
    _shaped(parts.heads.W, (heads, rank, dim, dim), "heads.W")
    if any(x.bottom != 1 for W in parts.heads.W for matrix in W for row in matrix for x in row):
        raise InputError(
            "W must have integers on the base",
            field="heads.W",
            hint="write the certificate over a base of smaller numbers",
        )


def _shaped(value: Sequence[Any], shape: tuple[int, ...], where: str) -> None:
    if len(value) != shape[0]:
        raise InputError(f"must be a list of {shape[0]}", field=where, value=len(value))
    if len(shape) > 1:
        for i, part in enumerate(value):
            _shaped(part, shape[1:], f"{where}[{i}]")


def _transcript(parts: _Parts, steps: list[dict[str, Any]]) -> str:
    """Return the digest of tokens and answers, the answers in the very text of the certificate."""
    rows = iter(parts.profiles)
    digest = hashlib.sha256(canonical_json([_text(parts.tokens.b[0]), steps[1]["answer"]]))
    for step in steps:
        if step["kind"] == "profile":
            row = next(rows)
            b, u = _combined(parts.tokens.b, row.b), _combined(parts.tokens.u, row.u)
            digest.update(canonical_json([_text(b), _text(u), step["answers"]]))
    return digest.hexdigest()


def _combined(tokens: list[list[int]], indices: list[int]) -> list[int]:
    return [sum(column) for column in zip(*(tokens[i - 1] for i in indices), strict=True)]


def _text(token: list[int]) -> list[str]:
    return [hexadecimal(x) for x in token]


def _check_sizes(certificate: _Certificate, parts: _Parts, limits: Limits) -> None:
    """Bound the work, here and in Rocq."""
    claim, answers = certificate.claim, sum(len(profile.answers) for profile in parts.profiles)
    most = max(claim.heads, claim.told, claim.queries, claim.length, answers, len(parts.profiles))
    if most > limits.rocq_queries:
        raise LimitError("has too many queries for Rocq", field="claim", value=most, hint="see --limit rocq_queries")
    tokens = [x for row in (*parts.tokens.b, *parts.tokens.u) for x in row]
    sizes = {"tokens": _bits(tokens), "readout.s": _bits(x for scalar in parts.readout.s for x in scalar)}
    for number, profile in enumerate(parts.profiles, 1):
        exponents = (zip(certificate.field.base, exponent, strict=False) for exponent in profile.exponents)
        weights = sum(g.bit_length() * abs(e) for pairs in exponents for g, e in pairs)
        sizes[f"profile {number}"] = weights + _bits(x for scalar in profile.residues for x in scalar)
    for where, bits in sizes.items():
        if bits > limits.rocq_bits:
            raise LimitError("has too many bits for Rocq", field=where, value=bits, hint="see --limit rocq_bits")


def _bits(numbers: Iterable[int]) -> int:
    return sum(n.bit_length() for n in numbers)


# --- hints -----------------------------------------------------------------------------------------------------------


def _adjugate(rows: list[list[int]]) -> tuple[list[list[int]], int]:
    """Return A and det M with M·A = det M, or zeros when M is singular: then Rocq refuses."""
    matrix = fmpz_mat(rows)
    det = matrix.det()
    if det == 0:
        return [[0] * len(rows) for _ in rows], 0
    scaled = fmpq_mat(matrix).inv() * det
    return [[int(x.numerator) for x in row] for row in scaled.tolist()], int(det)


def _cancelled(profile: _Profile, parts: _Parts, base: list[int]) -> list[int]:
    """Return, for k = 1, 2, …, the factor by which Rocq's unreduced sum (P) is longer than the answer."""
    b = _combined(parts.tokens.b, profile.b)
    constant = sum((Fraction(*s) * x for s, x in zip(parts.readout.s, b, strict=True)), Fraction(0))
    weights = [_weight(base, exponent) for exponent in profile.exponents]
    result = []
    for k, answer in enumerate(profile.answers, 1):
        bottom = constant.denominator
        for (top, low), residue in zip(weights, profile.residues, strict=False):
            bottom *= residue.bottom * (low + k * top)
        result.append(max(1, bottom // answer.bottom))
    return result


def _weight(base: list[int], exponent: list[int]) -> tuple[int, int]:
    """Return numerator and denominator of Π g^e."""
    top = bottom = 1
    for g, e in zip(base, exponent, strict=False):
        top *= g ** max(e, 0)
        bottom *= g ** max(-e, 0)
    return top, bottom


# --- Rocq's syntax ---------------------------------------------------------------------------------------------------


def _number(n: int) -> str:
    return str(n) if n.bit_length() <= DECIMAL_BITS else f"{n:#x}"


def _z(n: int) -> str:
    return "Z0" if n == 0 else f"{'Zpos' if n > 0 else 'Zneg'} {_number(abs(n))}"


def _q(x: Rational) -> str:
    top = _z(x.top)
    return f"Qmake {top if x.top == 0 else f'({top})'} {_number(x.bottom)}"


def _listed(items: Iterable[str], separator: str = "; ") -> str:
    text = separator.join(items)
    return f"[:: {text}]" if text else "[::]"


def _vector(row: Iterable[int]) -> str:
    return _listed(map(_z, row))


def _matrix(rows: Iterable[Iterable[int]]) -> str:
    return _listed(map(_vector, rows))


def _lines(certificate: _Certificate, parts: _Parts, transcript: str) -> Iterator[str]:
    claim, dim, base = certificate.claim, certificate.dim, certificate.field.base
    yield _HEADER.format(heads=claim.heads, told=claim.told, dim=dim, instance=certificate.instance)
    for number, profile in enumerate(parts.profiles, 1):
        yield _profile_definition(number, profile, _cancelled(profile, parts, base))
    (adjugate_b, det_b), (adjugate_u, det_u) = _adjugate(parts.tokens.b), _adjugate(parts.tokens.u)
    integers = [[[[x.top for x in row] for row in matrix] for matrix in W] for W in parts.heads.W]
    fields = {
        "dim_minus_1": f"{dim - 1}%N",
        "told": f"{claim.told}%N",
        "base": _listed(map(_number, base)),
        "tokens_b": _matrix(parts.tokens.b),
        "tokens_u": _matrix(parts.tokens.u),
        "adjugate_b": _matrix(adjugate_b),
        "determinant_b": _z(det_b),
        "adjugate_u": _matrix(adjugate_u),
        "determinant_u": _z(det_u),
        "base_answer": _q(parts.base.answer),
        "steps": _listed(f"profile_{number}" for number in range(1, len(parts.profiles) + 1)),
        "vectors": _listed(_listed(map(_q, v)) for v in parts.readout.v),
        "vector_sum": _listed(map(_q, parts.readout.s)),
        "matrices": _listed((_listed(map(_matrix, W)) for W in integers), ";\n    "),
    }
    yield _record("cert", "certificate", fields)
    counts = parts.conclusion.conditions
    yield _FOOTER % {
        "heads": claim.heads,
        "known": "" if claim.bound else _KNOWN,
        "queries": claim.queries,
        "length": claim.length,
        "dim": dim,
        "rank": len(base),
        "counts": _vector([counts.C1, counts.C2, counts.C3, counts.C4]),
        "stated": certificate.transcript,
        "computed": transcript,
    }


def _profile_definition(number: int, profile: _Profile, cancelled: list[int]) -> str:
    b, u = (" + ".join(f"{name}_{i}" for i in indices) for name, indices in (("b", profile.b), ("u", profile.u)))
    fields = {
        "answers": _listed(map(_q, profile.answers), ";\n    "),
        "cancelled": _listed(map(_number, cancelled)),
        "exponents": _matrix(profile.exponents),
        "residues": _listed(map(_q, profile.residues)),
    }
    return f"(* final token {b}, displacement {u} *)\n" + _record(f"profile_{number}", "profile_step", fields)


def _record(name: str, kind: str, fields: dict[str, str]) -> str:
    members = ";\n  ".join(f"{field} := {value}" for field, value in fields.items())
    return f"Definition {name} : {kind} := {{|\n  {members} |}}.\n"


_HEADER = """\
(** Certificate of exact recovery: {heads} heads, d = {dim}; the learner was told {told}.
    SHA-256 of the instance file, which is not read here: {instance}.
    Accepted by coqc if and only if the numbers below prove the theorem [claim] at the end. *)

From Coq Require Import ZArith QArith String.
From mathcomp Require Import all_ssreflect all_algebra.
From ExactMHA Require Import Profile Model Transfer Certificate Soundness.

Local Open Scope positive_scope.
"""

_KNOWN = """\
(** The learner was told the number of heads. *)
Lemma heads_told : told cert = heads cert. Proof. reflexivity. Qed.
"""

_FOOTER = """\
Local Close Scope positive_scope.

(** The side conditions, by computation. *)
Lemma base_accepted : check_base cert. Proof. vm_cast_no_check (erefl true). Qed.
Lemma tokens_accepted : check_tokens cert. Proof. vm_cast_no_check (erefl true). Qed.
Lemma sum_accepted : check_sum cert. Proof. vm_cast_no_check (erefl true). Qed.
Lemma matches_accepted : check_matches cert. Proof. vm_cast_no_check (erefl true). Qed.
Lemma profiles_accepted : check_profiles cert. Proof. vm_cast_no_check (erefl true). Qed.

Lemma accepted : check cert.
Proof.
exact: (introT and5P (And5 base_accepted tokens_accepted sum_accepted profiles_accepted matches_accepted)).
Qed.

(** How many conditions C1, C2, C3, C4 there are. *)
Lemma counts_stated : condition_counts cert = %(counts)s. Proof. reflexivity. Qed.

%(known)s
(** The SHA-256 that the certificate states, and that of its answers (computed by exactmha, not here). *)
Lemma transcript_stated : "%(stated)s"%%string
  = "%(computed)s"%%string.
Proof. reflexivity. Qed.

(** The main theorem for this transcript.  K is any field with an exponential e
    (the real numbers with exp, say), and [log_base j] the logarithm of g_j. *)
Theorem claim (R : idomainType) (K : fieldType) (V : lmodType R)
    (emb : {rmorphism R -> K}) (e : V -> K) (log_base : nat -> V) :
  exp_setting emb e ->
  (forall j, (j < %(rank)d)%%N -> e (log_base j) = pR K (base_at cert j)) ->
  let M := recovered cert K log_base in
  let gives_answers (N : model K V %(dim)d) :=
    forall X a, (X, a) \\in transcript cert R K -> output emb e N X = a in
  [/\\ canonical M /\\ size M = %(heads)d%%N,
      size (transcript cert R K) = %(queries)d%%N,
      (forall X a, (X, a) \\in transcript cert R K -> (size X <= %(length)d)%%N),
      gives_answers M
    & forall N, (size (canon N) <= %(heads)d)%%N -> gives_answers N -> perm_eq (canon N) M].
Proof. exact: (certificate_claim accepted). Qed.

(** Over the rational numbers, e(x) = prod_j g_j ^ x_j: nothing is left to assume. *)
Theorem claim_over_rationals :
  let M := recovered cert [fieldType of rat] (@cert_unit cert) in
  let gives_answers (N : model _ _ %(dim)d) :=
    forall X a, (X, a) \\in transcript cert [idomainType of int] [fieldType of rat] ->
    output [rmorphism of (intr : int -> rat)] (@cert_exp cert) N X = a in
  [/\\ canonical M /\\ size M = %(heads)d%%N, gives_answers M
    & forall N, (size (canon N) <= %(heads)d)%%N -> gives_answers N -> perm_eq (canon N) M].
Proof. exact: (certificate_rational accepted). Qed.

Print Assumptions claim.
Print Assumptions claim_over_rationals.
"""
