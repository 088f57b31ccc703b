"""Kernels and device functions become Python functions, once per signature."""

from __future__ import annotations

import ast
from dataclasses import dataclass, replace
from types import CodeType, FunctionType
from typing import Any

from astile.ir import nodes
from astile.runtime.emulator.arithmetic import THREAD
from astile.runtime.emulator.errors import EmulationError, Places
from astile.runtime.emulator.inference import Inference
from astile.runtime.emulator.kinds import NOTHING, Integer, Type, join
from astile.runtime.emulator.rewrite import Rewrite
from astile.runtime.emulator.words import DeviceFunction


@dataclass(frozen=True)
class Translated:
    """A kernel or device function for one signature.

    Args:
        function: takes the running thread, then the arguments.
        collective: whether it waits for other threads; it is then a generator function.
        warp: whether some of its waits are those of a warp.
        returned: type of what it returns.
    """

    function: FunctionType
    collective: bool
    warp: bool
    returned: Type


class Translator:
    """The functions of one generated module, translated when they are first needed.

    Args:
        tree: the module as written.
        places: its places.
    """

    def __init__(self, tree: ast.Module, places: Places) -> None:
        self.places = places
        self._definitions: dict[int, ast.FunctionDef] = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef):
                first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
                self._definitions[first] = node
        self._done: dict[tuple[FunctionType, tuple[Type, ...]], Translated | None] = {}

    def translate(self, function: FunctionType, types: tuple[Type, ...]) -> Translated:
        """A function for arguments of the given types.

        Args:
            function: a kernel or device function of the module.
            types: of its arguments, in order.

        Raises:
            EmulationError: it uses what the emulator does not know.
        """
        key = function, types
        if key not in self._done:
            self._done[key] = None
            try:
                self._done[key] = self._translate(function, types)
            finally:
                if self._done[key] is None:
                    del self._done[key]
        done = self._done[key]
        if done is None:
            raise EmulationError(f"device function {function.__name__} calls itself")
        return done

    def _translate(self, function: FunctionType, types: tuple[Type, ...]) -> Translated:
        code = function.__code__
        definition = self._definitions.get(code.co_firstlineno)
        if definition is None or code.co_filename != self.places.source.name:
            raise EmulationError(f"{function.__name__} is not defined in the generated text")
        definition = nodes.clone(definition)
        namespace = dict(function.__globals__)
        for free, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
            namespace[free] = cell.cell_contents
        names = [each.arg for each in (*definition.args.posonlyargs, *definition.args.args)]
        kinds: dict[str, Type] = dict.fromkeys(names)
        kinds.update(zip(names, types, strict=False))
        inference = Inference(definition, kinds, namespace, self._returned)
        returned: Type = NOTHING
        for node in ast.walk(definition):
            if isinstance(node, ast.Return) and node.value is not None:
                returned = join(returned, inference.of(node.value))
        rewrite = Rewrite(inference, self.places, self._device)
        body: list[ast.stmt] = []
        for statement in definition.body:
            new = rewrite.visit(statement)
            body.extend(new if isinstance(new, list) else [new])
        definition.body = body
        definition.decorator_list = []
        definition.returns = None
        for each in (*definition.args.posonlyargs, *definition.args.args):
            each.annotation = None
        definition.args.defaults, definition.args.kw_defaults = [], []
        first = definition.args.posonlyargs or definition.args.args
        first.insert(0, ast.arg(THREAD))
        made = self._compiled(definition, {**namespace, **rewrite.bound})
        made.__defaults__ = function.__defaults__
        return Translated(made, rewrite.collective, rewrite.warp, returned)

    def _compiled(self, definition: ast.FunctionDef, namespace: dict[str, Any]) -> FunctionType:
        module = ast.fix_missing_locations(nodes.module_of([definition]))
        try:
            code = compile(module, self.places.source.name, "exec", dont_inherit=True)
        except SyntaxError as error:  # a barrier inside a comprehension, for instance
            raise EmulationError(
                f"{definition.name} cannot be emulated: {error.msg}",
                span=self.places.span(-(error.lineno or 1)),
            ) from error
        [inner] = [each for each in code.co_consts if isinstance(each, CodeType)]
        return FunctionType(inner, namespace, definition.name)

    def _device(
        self, function: DeviceFunction, types: tuple[Type, ...]
    ) -> tuple[FunctionType, bool, bool]:
        done = self.translate(function.function, tuple(map(_coarse, types)))
        return done.function, done.collective, done.warp

    def _returned(self, function: DeviceFunction, types: tuple[Type, ...]) -> Type:
        return self.translate(function.function, tuple(map(_coarse, types))).returned


def _coarse(kind: Type) -> Type:
    """A type without the finer bounds, so that a device function is not translated for each."""
    if isinstance(kind, Integer):
        return replace(kind, bits=32 if kind.bits <= 32 else 64)
    return kind
