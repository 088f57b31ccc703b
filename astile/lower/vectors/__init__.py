"""Vector loops in explicit registers: the statements of a loop in all lanes of a vector at once."""
