"""Doubles for ports only: what stands in for a model that we do not own."""
