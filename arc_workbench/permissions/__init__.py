"""What may run: frozen actions, modes, grants, and the pure decision over them."""
