"""Exit codes of the `arc-workbench` command (decision 32)."""

COMPLETED = 0
FAILED = 1
USAGE = 2
DENIED = 3
