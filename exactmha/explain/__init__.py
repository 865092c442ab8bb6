"""A run of the learner told as a story: steps as data, every displayed equation verified, in text, HTML and LaTeX.

`gather` runs the learner on a model, `tell` makes the story of the run; `as_text`, `as_html` and `as_latex` write it,
and `figure` draws one picture of the run. `import exactmha` does not load this package; `exactmha.explain` does.
"""

# imported here and not on first use: `tell` is also the name of a module, which would take the place of the function
from exactmha.explain.html import as_html
from exactmha.explain.latex import as_latex
from exactmha.explain.pictures.catalogue import figure
from exactmha.explain.run import gather
from exactmha.explain.tell import tell
from exactmha.explain.text import as_text

__all__ = ["as_html", "as_latex", "as_text", "figure", "gather", "tell"]
