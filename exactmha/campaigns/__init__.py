"""Campaigns: many verifications, resumable, on one machine or on a cluster."""
