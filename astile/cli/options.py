"""Arguments and options that several commands take."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import click

from astile.cli.usage import Misused
from astile.diagnostics import did_you_mean
from astile.kernel import Kernel
from astile.lower.parameters.assumed import known_dtype
from astile.samples import Wanted
from astile.targets import CALLED, TEXTS

Command = TypeVar("Command", bound=Callable[..., Any])
Value = TypeVar("Value")

function = click.argument("function", metavar="FILE:FUNCTION")
#: A size after the first one of an option.
_MORE = re.compile(r"[^\W\d]\w*=[^:=]*")
_SIZES = ("--shape", "--value", "--dtype")


as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")

shapes = click.option(
    "--shape",
    "shapes",
    multiple=True,
    metavar="NAME=N,M",
    help="Shapes of array arguments, as in --shape x=226,226 out=224,224.",
)


values = click.option(
    "--value", "values", multiple=True, metavar="NAME=N", help="A number, as in --value n=100."
)
dtypes = click.option(
    "--dtype", "dtypes", multiple=True, metavar="NAME=T", help="As in --dtype idx=int64."
)


class Sized(click.Command):
    """A command whose options for sizes take several: ``--shape x=226,226 out=224,224``."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the arguments, with the option before each of its values."""
        return super().parse_args(ctx, list(_spread(args)))


def _spread(args: Sequence[str]) -> Iterator[str]:
    option, is_next = None, False
    for each in args:
        if each.startswith("-"):
            name = each.partition("=")[0]
            option, is_next = name if name in _SIZES else None, each in _SIZES
        elif is_next:
            is_next = False
        elif option is not None and _MORE.fullmatch(each):
            yield option
        yield each


class Word(click.Choice[str]):
    """One of some words; a misspelt one gets a suggestion.

    Args:
        words: that there are.
        called: what some of them are called elsewhere.
    """

    def __init__(self, words: Sequence[str], called: Mapping[str, str]) -> None:
        super().__init__(words)
        self._called = called

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The word that is meant."""
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter as error:
            hint = did_you_mean(str(value), self.choices, self._called)
            if hint is None:
                raise
            raise click.BadParameter(f"{error.message.rstrip('.')}; {hint}", ctx, param) from None


class Shaped(NamedTuple):
    """An array of which only shape and type are known."""

    shape: tuple[int, ...]
    dtype: str


def number(text: str) -> object:
    """A number as Python writes it.

    Args:
        text: one literal.

    Raises:
        ValueError: for anything else.
    """
    value = ast.literal_eval(text)
    if not isinstance(value, (bool, int, float, complex, str)):
        raise ValueError(text)
    return value


def read_pairs(given: Sequence[str], read: Callable[[str], Value], what: str) -> dict[str, Value]:
    """``NAME=VALUE`` options as a table.

    Args:
        given: what was written.
        read: makes a value of its text.
        what: it makes, for messages.

    Raises:
        click.UsageError: for text of another form.
    """
    found: dict[str, Value] = {}
    for each in given:
        name, equals, text = (part.strip() for part in each.partition("="))
        if not equals or not name:
            raise click.UsageError(f"{each!r} is not of the form NAME=VALUE")
        if name in found:
            raise click.UsageError(f"{name} is given twice")
        try:
            found[name] = read(text)
        except (ValueError, SyntaxError):
            raise click.UsageError(f"{text!r} in {each!r} is no {what}") from None
    return found


def read_shapes(given: Sequence[str]) -> dict[str, tuple[int, ...]]:
    """``NAME=N,M`` options as a table.

    Args:
        given: what was written.

    Raises:
        click.UsageError: for text of another form.
    """
    return read_pairs(given, _shape, "shape, such as 226,226")


def wanted(
    kernel: Kernel[..., Any],
    shapes: Sequence[str],
    values: Sequence[str],
    dtypes: Sequence[str],
    seed: int = 0,
) -> Wanted:
    """What the options ask of sample arguments.

    Args:
        kernel: to be called.
        shapes: as written.
        values: as written.
        dtypes: as written.
        seed: of random numbers.

    Raises:
        click.UsageError: for a name that is no parameter, and for text of another form.
    """
    found = Wanted(
        read_shapes(shapes),
        read_pairs(values, number, "number"),
        read_pairs(dtypes, str, "name"),
        seed=seed,
    )
    _require_parameters(kernel, {*found.shapes, *found.values, *found.dtypes})
    return found


def named_dtypes(kernel: Kernel[..., Any], dtypes: Sequence[str]) -> dict[str, str]:
    """The types that a text is to be made for, as `Kernel.source` takes them.

    Args:
        kernel: whose text it is.
        dtypes: as written.

    Raises:
        click.UsageError: for a name that is no parameter, and for text of another form.
    """
    found = read_pairs(dtypes, str, "name")
    _require_parameters(kernel, set(found))
    return found


def _require_parameters(kernel: Kernel[..., Any], names: set[str]) -> None:
    parameters = kernel.__signature__.parameters
    unknown = sorted(names - set(parameters))
    if unknown:
        hint = did_you_mean(unknown[0], parameters)
        raise Misused(f"{kernel.__name__} has no parameter {unknown[0]!r}", hint)


def sizes(
    kernel: Kernel[..., Any],
    shapes: Sequence[str],
    values: Sequence[str],
    dtypes: Sequence[str],
) -> dict[str, object]:
    """What the options say of sizes, as `explain` takes it.

    Args:
        kernel: to be explained.
        shapes: as written.
        values: as written.
        dtypes: as written.

    Raises:
        click.UsageError: for a name that is no parameter, and for text of another form.
        ArgumentError: for a dtype that NumPy does not have.
    """
    found = wanted(kernel, shapes, values, dtypes)
    arrays = {
        name: Shaped(shape, str(known_dtype(found.dtypes.get(name, "float32"))))
        for name, shape in found.shapes.items()
    }
    return {**found.values, **arrays}


def _shape(text: str) -> tuple[int, ...]:
    extents = tuple(int(each) for each in text.replace("x", ",").split(",") if each.strip())
    if any(each < 0 for each in extents):
        raise ValueError(text)
    return extents


def target(default: str) -> Callable[[Command], Command]:
    """The option ``--target``.

    Args:
        default: one of `astile.targets.TEXTS`.
    """
    return click.option(
        "--target",
        type=Word(TEXTS, CALLED),
        default=default,
        show_default=True,
        help="Whose text.",
    )
