"""Syntax nodes are built in one place."""

import ast

from tests.support.package import PACKAGE, modules, place, tree

HOME = PACKAGE / "ir" / "nodes.py"

#: Node class -> the builder in astile/ir/nodes.py that is to be used instead.
BUILDERS = {
    "Name": "name, target",
    "Constant": "const",
    "Attribute": "attribute",
    "Call": "call",
    "BinOp": "binary",
    "Compare": "compare, comparison",
    "Tuple": "tuple_of",
    "Subscript": "subscript",
    "Assign": "assign",
    "For": "for_loop",
    "If": "if_then",
    "FunctionDef": "function",
    "ImportFrom": "import_from",
    "Import": "import_as",
    "Module": "module_of",
}


def built_nodes(root):
    """Calls of ``ast.<Node>`` for which there is a builder."""
    return [
        node
        for node in ast.walk(root)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id == "ast"
        and node.func.attr in BUILDERS
    ]


def test_nodes_are_built_by_their_builders():
    found = [
        f"{place(path, node)}: ast.{node.func.attr}(...), use nodes.{BUILDERS[node.func.attr]}"
        for path in modules(PACKAGE)
        if path != HOME
        for node in built_nodes(tree(path))
    ]
    assert not found, "\n".join(found)


def test_the_builders_exist():
    defined = {each.name for each in tree(HOME).body if isinstance(each, ast.FunctionDef)}
    wanted = {name.strip() for names in BUILDERS.values() for name in names.split(",")}
    assert wanted <= defined


def test_a_node_that_is_only_matched_is_no_construction():
    text = "match e:\n    case ast.Name(id=n): pass\nisinstance(e, ast.Name)\nast.Name('x')\n"
    assert [node.lineno for node in built_nodes(ast.parse(text))] == [4]
