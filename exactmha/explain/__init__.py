"""A run of the learner told as a story: steps as data, every displayed equation verified, in text, HTML and LaTeX."""
