"""Measurements: `./dev bench` prints ratios against a named peer, taken in one run."""
