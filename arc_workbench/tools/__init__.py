"""The tool contract: what a tool is, its schema, and which tools a session offers."""
