"""Program to the source text of a target."""
