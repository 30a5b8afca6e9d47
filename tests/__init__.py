"""The tests; shared parts are imported as `tests.…` from the root of the repository."""
