"""The program model: a Python `ast.FunctionDef` and questions about it."""
