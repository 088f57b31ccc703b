"""Generated text becomes a callable, is checked and launched."""
