"""A real kernel, spoken to as a front end does."""
