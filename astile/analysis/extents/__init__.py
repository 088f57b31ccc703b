"""How far accesses reach: conditions on sizes, and boxes of cells."""
