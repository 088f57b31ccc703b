"""A kernel as one HTML file: steps, loop nests, an animation, and what `explain` counts."""
