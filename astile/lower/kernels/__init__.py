"""One CUDA kernel: the form of its nest, its barriers and copies, its launch."""
