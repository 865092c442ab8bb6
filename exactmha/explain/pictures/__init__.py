"""The pictures of a run, one module each: drawn once, with matplotlib, for files, for notebooks and for HTML.

They are drawn in floating point and decide nothing; what a scene says in numbers is exact and verified.
"""
