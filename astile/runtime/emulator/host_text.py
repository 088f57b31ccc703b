"""The text of an emulated module, with stand-ins in the place of numba."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, NoReturn

import numpy as np

from astile.ir import nodes
from astile.runtime.emulator.copy_words import COPY_WORDS
from astile.runtime.emulator.errors import EmulationError
from astile.runtime.emulator.host import SHARED_WORDS, Cuda
from astile.runtime.emulator.matrix_words import MATRIX_UNITS
from astile.runtime.emulator.wide import INTRINSICS
from astile.runtime.emulator.words import CUDA_FUNCTIONS
from astile.source import SourceFile

SCALARS: Mapping[str, type[np.generic]] = {
    **{name: getattr(np, name) for name in (
        "float16", "float32", "float64", "int8", "int16", "int32", "int64",
        "uint8", "uint16", "uint32", "uint64", "complex64", "complex128", "intp", "uintp",
    )},
    "boolean": np.bool_, "bool_": np.bool_,
}  # fmt: skip


class HostRewrite(ast.NodeTransformer):
    """Puts the stand-ins in the place of numba, in the text of one module.

    Args:
        source: the text.
        cuda: stands for ``numba.cuda``.
    """

    def __init__(self, source: SourceFile, cuda: Cuda) -> None:
        self.bound: dict[str, Any] = {}
        self._source = source
        self._cuda = cuda
        self._types: set[str] = set()
        self._numpy: set[str] = set()
        numba = SimpleNamespace(cuda=cuda, void=lambda *arguments: None, **SCALARS)
        self._modules = {
            "numba": numba,
            "numba.cuda": cuda,
            "astile.intrinsics.async_copies": SimpleNamespace(**COPY_WORDS),
            "astile.intrinsics.cuda": SimpleNamespace(**INTRINSICS),
            "astile.intrinsics.cuda_functions": SimpleNamespace(**CUDA_FUNCTIONS),
            "astile.intrinsics.matrix_units": SimpleNamespace(**MATRIX_UNITS),
            "astile.intrinsics.shared_memory": SimpleNamespace(**SHARED_WORDS),
        }

    def _bind(self, value: Any) -> ast.Name:
        name = f"_astile_host_{len(self.bound)}"
        self.bound[name] = value
        return nodes.name(name)

    def visit_Import(self, node: ast.Import) -> Any:
        """``import numba`` and its like become assignments."""
        result: list[ast.stmt] = []
        for alias in node.names:
            root = alias.name.split(".")[0]
            if root == "numpy":
                self._numpy.add(alias.asname or "numpy")
            if root != "numba":
                kept = nodes.import_as(alias.name, alias.asname or alias.name)
                result.append(nodes.copy_place(node, kept))
                continue
            module = self._module(alias.name, node)
            if not alias.asname:
                module = self._module(root, node)
            value = nodes.assign(alias.asname or root, self._bind(module))
            result.append(nodes.copy_place(node, value))
        return result

    def visit_ImportFrom(self, node: ast.ImportFrom) -> Any:
        """``from numba import cuda`` and its like become assignments."""
        home = node.module or ""
        if node.level or not (home.split(".")[0] == "numba" or home.startswith("astile.")):
            return node
        module = self._module(node.module or "", node)
        result: list[ast.stmt] = []
        for alias in node.names:
            value = getattr(module, alias.name, None)
            if value is None:
                self._refuse(f"{node.module}.{alias.name}", node)
            if isinstance(value, type):
                self._types.add(alias.asname or alias.name)
            assigned = nodes.assign(alias.asname or alias.name, self._bind(value))
            result.append(nodes.copy_place(node, assigned))
        return result

    def _module(self, name: str, node: ast.AST) -> Any:
        if name not in self._modules:
            self._refuse(name, node)
        return self._modules[name]

    def _refuse(self, name: str, node: ast.AST) -> NoReturn:
        raise EmulationError(f"{name} is not emulated", span=self._source.span(node))

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        """Signatures of kernels are numba's: they go, before they are computed."""
        for decorator in node.decorator_list:
            if isinstance(decorator, ast.Call) and _last_name(decorator.func) == "jit":
                decorator.args = []
                decorator.keywords = [
                    each for each in decorator.keywords if each.arg != "signature"
                ]
        return self.generic_visit(node)

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        """An array type such as ``float32[:, ::1]`` is part of a signature."""
        if isinstance(node.value, ast.Name) and node.value.id in self._types:
            return nodes.copy_place(node, nodes.const(None))
        return self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """`numpy.empty` gives memory whose unwritten cells are known."""
        function = node.func
        if (
            isinstance(function, ast.Attribute)
            and isinstance(function.value, ast.Name)
            and function.value.id in self._numpy
            and function.attr in ("empty", "empty_like")
        ):
            node.func = self._bind(getattr(self._cuda, f"host_{function.attr}"))
        return self.generic_visit(node)


def _last_name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
