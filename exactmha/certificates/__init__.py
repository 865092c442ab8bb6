"""Certificates: written by `write`, checked by the stand-alone `checker`; the format is in SPECIFICATION.md."""
