"""Facts about a program; never edits a tree."""
