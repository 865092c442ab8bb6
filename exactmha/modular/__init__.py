"""The guess modulo p^k: places, pole polynomial, lifting."""
