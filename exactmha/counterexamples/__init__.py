"""Break the theorem: an exact, checked counterexample for every assumption dropped (`proofs/counterexamples`)."""
