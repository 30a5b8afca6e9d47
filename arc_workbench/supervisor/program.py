"""Started as `python -I -S program.py SOCKET PARENT PATH...`: waits for orders and forks for each.

A fork of this small process is ready at once, where a new interpreter would take longer than most
commands. It ends when the process that started it ends, and with it all that it watches over.
"""

import sys


def main(socket: int, parent: int, path: list[str]) -> None:
    """Set the path for imports; the standard library stays first, so that nothing shadows it."""
    sys.path += [entry for entry in path if entry not in sys.path]
    from arc_workbench.supervisor.waiting import wait_for_orders

    wait_for_orders(socket, parent)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:])
