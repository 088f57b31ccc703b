"""What the primitives share: none of these is one."""
