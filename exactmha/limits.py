"""Documented bounds on what strangers may hand us, so that no input can hang or exhaust the machine."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """Sizes beyond which an input is refused with a `LimitError`."""

    file_bytes: int = 64 * 2**20
    """size of an instance, token or certificate file, in bytes"""
    json_depth: int = 64
    """nesting depth of a JSON document"""
    dim: int = 512
    """dimension d of the tokens"""
    heads: int = 512
    """number of heads, before merging"""
    neurons: int = 512
    """neurons m of a Transformer, before merging"""
    width: int = 512
    """rows p of the O of a Transformer"""
    tokens: int = 4096
    """length of a sequence"""
    expression_chars: int = 100_000
    """characters of one exact expression"""
    expression_depth: int = 40
    """nesting depth of one exact expression"""
    number_digits: int = 20_000
    """decimal digits of any number met while an expression is evaluated"""
    terms: int = 512
    """different roots, or different logarithms, in one sum"""
    products: int = 100_000
    """products of terms when sums of roots are multiplied out, in one file"""
    root_order: int = 96
    """degree N of the radical field"""
    log_bases: int = 64
    """multiplicatively independent numbers under the logarithms of one instance"""
    log_bits: int = 2_000_000
    """bits of all numbers under the logarithms of one instance together"""
    sqrt_bits: int = 64
    """bits of n in sqrt(n), unless n is a perfect square"""
    value_bits: int = 4_000_000
    """bits of the weights exp(x_n^T W_h x_i) of all heads together, in the rational and radical fields"""
    queries: int = 100_000
    """number of token sequences in one list of queries"""
    query_tokens: int = 200_000
    """tokens of all sequences in one list of queries"""
    jacobian_cells: int = 4_000_000
    """entries of the Jacobian of a list of queries in the parameters"""
    jacobian_size: int = 20_000_000
    """machine words (terms in the exponential field) of the exact numbers from which a null vector of it is proved"""

    weights_bytes: int = 2**30
    """size of a file of weights, in bytes"""
    weights_header: int = 4 * 2**20
    """size of the header of a safetensors file, in bytes"""
    weights_tensors: int = 20_000
    """number of tensors in a file of weights"""
    weights_entries: int = 4_000_000
    """entries of one tensor that is read"""
    rocq_bits: int = 100_000
    """bits of a number, of all tokens, and of weights and residues of a profile, in a certificate exported to Rocq"""
    rocq_queries: int = 4_000
    """queries, or profiles, of a certificate exported to Rocq, which counts them in unary"""

    @property
    def number_bits(self) -> int:
        """`number_digits` in bits."""
        return self.number_digits * 10 // 3 + 1


DEFAULT_LIMITS = Limits()
