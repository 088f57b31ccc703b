"""Functions that generated text calls, and what they mean in plain Python."""
