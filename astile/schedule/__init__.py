"""What the user holds: names, steps, trace, recipes."""
