"""Real attention layers as exact instances: floating-point weights, read bit-exactly (`proofs/real-layers`)."""
