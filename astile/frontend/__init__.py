"""A Python function becomes a Program."""
