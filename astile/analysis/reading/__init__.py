"""What the text of a program says: its statements, their domains, accesses and places."""
