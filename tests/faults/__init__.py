"""Faults on purpose: processes killed, power cut, disks full, and what must hold afterwards."""
