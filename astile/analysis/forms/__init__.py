"""Whole numbers as expressions and as sets: linear forms, digits of mixed radix, parameters."""
