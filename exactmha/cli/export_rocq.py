"""`exactmha export-rocq`."""

from __future__ import annotations

import click

from exactmha.cli.options import limit_option, output_option, write_or_print
from exactmha.limits import Limits


@click.command("export-rocq")
@click.argument("certificate")
@output_option
@limit_option
def command(certificate: str, output: str | None, limits: Limits) -> int:
    """Write CERTIFICATE as a Rocq file: the main theorem for its transcript.

    coqc accepts the file if and only if the certificate is right; nothing is checked here but its shape. The rational
    field only. The theory that the file needs is in the folder rocq of the proofs; its README says how to compile.
    """
    from exactmha.certificates.rocq import rocq_text
    from exactmha.files import read_bytes

    write_or_print(rocq_text(read_bytes(certificate, limits), file=certificate, limits=limits), output)
    return 0
