"""Runs the measurements that are named, or all of them."""

import asyncio
import sys

from tests.bench import journal, loading, outlines, searching, shell, steps

MEASUREMENTS = {
    "journal": journal.measure,
    "loading": loading.measure,
    "outlines": outlines.measure,
    "searching": searching.measure,
    "shell": shell.measure,
    "steps": lambda: asyncio.run(steps.measure()),
}


def main() -> int:
    """Print each measurement; 1 where a goal with a number was missed."""
    names = sys.argv[1:] or list(MEASUREMENTS)
    unknown = [name for name in names if name not in MEASUREMENTS]
    if unknown:
        print(f"No measurement {unknown[0]}. Known: {', '.join(MEASUREMENTS)}", file=sys.stderr)
        return 2
    met = [MEASUREMENTS[name]() for name in names]
    return 0 if all(met) else 1


if __name__ == "__main__":
    sys.exit(main())
