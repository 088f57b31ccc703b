"""Types of values: what the plain program computes in, and casts that make numba do the same."""
