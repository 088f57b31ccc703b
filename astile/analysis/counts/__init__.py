"""Numbers to show: bytes, operations, occupancy, instructions."""
