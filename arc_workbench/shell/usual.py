"""What one command may take, where nobody says otherwise."""

import psutil

from arc_workbench.supervisor.limits import Limits

_MAX_PROCESSES = 2_000
_MAX_FILE_BYTES = 64 << 30
_MEMORY_SHARE = 0.75


def usual_limits() -> Limits:
    """2,000 processes, three quarters of the memory, files of 64 GiB."""
    memory = int(psutil.virtual_memory().total * _MEMORY_SHARE)
    return Limits(_MAX_PROCESSES, memory, _MAX_FILE_BYTES)
