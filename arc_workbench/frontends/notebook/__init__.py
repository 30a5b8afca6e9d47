"""The notebook: an awaited cell, its live view, and what is kept of it when the run is over."""
