"""Whether iterations may run at the same time, and which two meet if not."""
