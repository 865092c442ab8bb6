"""The frame of every HTML page: one file, no network, one style for light, dark and print."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from importlib.resources import files

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"


def page(title: str, header: str, contents: Sequence[tuple[str, str]], body: str, footer: str) -> str:
    """Return a page; `contents` holds (id, title) pairs, every other text but the title is HTML."""
    links = "".join(f'<li><a href="#{anchor}">{escape(name)}</a></li>' for anchor, name in contents)
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        f"<title>{escape(title)}</title><style>\n{_asset('page.css')}</style></head><body>"
        '<a class="skip" href="#main">Skip the list of contents</a>'
        f'<header><h1>{escape(title)}</h1><p>{header}</p><nav aria-label="Contents"><ol>{links}</ol></nav></header>'
        f'<main id="main">{body}</main><footer><p>{footer}</p></footer>'
        f"<script>\n{_asset('page.js')}</script></body></html>\n"
    )


def _asset(name: str) -> str:
    return files("exactmha.explain").joinpath(name).read_text(encoding="utf-8")
