"""Waiting for orders: one socket each, handed over; a fork takes it and does the work."""

import os
import select
import signal
import socket

from arc_workbench.supervisor import calls, tree
from arc_workbench.supervisor.job import supervise

_LOOK_SEC = 0.25  # a fork of the process that started us may hold the socket open when that is dead


def wait_for_orders(number: int, parent: int) -> None:
    """Fork for each order until the process that sends them is gone.

    What loses its supervisor comes to this process, which ends it.
    """
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    for ignored in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM, signal.SIGCHLD):
        signal.signal(ignored, signal.SIG_IGN)
    calls.become_subreaper()
    orders = socket.socket(fileno=os.dup(number))  # a low number, which select can wait for
    os.close(number)
    supervisors: set[int] = set()
    while os.getppid() == parent:
        supervisors = tree.end_strays(supervisors)
        if not select.select([orders], [], [], _LOOK_SEC)[0]:
            continue
        _, sockets, _, _ = socket.recv_fds(orders, 1, 1)
        if not sockets:
            break
        os.set_inheritable(sockets[0], False)
        supervisors |= _forked(orders, sockets[0])
        os.close(sockets[0])
    for pid in supervisors:  # one that was stopped must see that nobody is left
        tree.wake(pid)


def _forked(orders: socket.socket, control: int) -> set[int]:
    """The new supervisor; nothing where the system gives no process, and then its end is closed."""
    try:
        pid = os.fork()
    except OSError:
        return set()
    if pid == 0:
        orders.close()
        _supervise(socket.socket(fileno=control))
    return {pid}


def _supervise(control: socket.socket) -> None:
    code = 1
    try:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        supervise(control)
        code = 0
    finally:
        os._exit(code)  # whatever it was: this process must not go on as its parent does
