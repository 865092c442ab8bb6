"""One-layer Transformers with a bias-free ReLU network on top: T(X) = Σ_j a_j ReLU(w_j · Σ_h O_h A_h(X)).

The learner: symmetry → breakpoints → cells → neurons → assemble, `learn` on one page (`proofs/transformer-algorithm`).
The abstract of arXiv:2608.03294 only says that its method extends to Transformers; this is one way to do it, our own.
"""
