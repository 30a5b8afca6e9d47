"""The two vocabularies: each a tuple of tools, translating for the same services."""
