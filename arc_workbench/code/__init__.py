"""Understanding source files without running them."""
