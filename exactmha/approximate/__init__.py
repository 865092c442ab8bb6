"""Approximate outputs: how far an error of the answers moves the parameters, certified in ball arithmetic."""
