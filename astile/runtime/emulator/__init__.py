"""A block executor for generated CUDA text on a machine without a GPU."""
