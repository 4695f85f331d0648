"""Paid model services: one request becomes one reply, within a budget that cannot be broken."""
