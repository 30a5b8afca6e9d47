"""Waiting for orders: one socket each, handed over; a fork takes it and does the work."""

import os
import select
import signal
import socket

from arc_workbench.supervisor.job import supervise

_LOOK_SEC = 0.25  # a fork of the process that started us may hold the socket open when that is dead


def wait_for_orders(number: int, parent: int) -> None:
    """Fork for each order until the process that sends them is gone."""
    for ignored in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM, signal.SIGCHLD):
        signal.signal(ignored, signal.SIG_IGN)
    orders = socket.socket(fileno=os.dup(number))  # a low number, which select can wait for
    os.close(number)
    while os.getppid() == parent:
        if not select.select([orders], [], [], _LOOK_SEC)[0]:
            continue
        _, sockets, _, _ = socket.recv_fds(orders, 1, 1)
        if not sockets:
            return
        os.set_inheritable(sockets[0], False)
        if os.fork() == 0:
            orders.close()
            _supervise(socket.socket(fileno=sockets[0]))
        os.close(sockets[0])


def _supervise(control: socket.socket) -> None:
    code = 1
    try:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        supervise(control)
        code = 0
    finally:
        os._exit(code)  # whatever it was: this process must not go on as its parent does
