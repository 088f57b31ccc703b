"""Files that are kept from one process to the next, and which of them are believed."""
