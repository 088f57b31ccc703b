"""Programs as text: the same program has the same text, and comes back from it."""

import ast
import dataclasses

import pytest

from astile import Schedule
from astile.frontend.build import build, build_from_source
from astile.ir import nodes, stored
from astile.ir.program import Program
from tests.support.recipes import RECIPES, blur, histogram, softmax


def test_every_field_of_a_program_is_thought_of():
    fields = [each.name for each in dataclasses.fields(Program)]
    assert sorted(fields) == sorted((*stored.CHANGING, *stored.SURROUNDINGS))


@pytest.mark.parametrize("function", [blur, histogram, softmax])
def test_a_program_comes_back(function):
    s = Schedule(function)
    s.split(s.loops()[0], [None, 4])
    s.annotate(s.loops()[0], "reason", "why not")
    text = stored.program_text(s.program, s.original)
    back = stored.program_from(text, s.original)
    assert stored.program_text(back, s.original) == text
    assert nodes.same(back.function, s.program.function)
    for one, other in zip(ast.walk(back.function), ast.walk(s.program.function), strict=True):
        assert one is not other
        assert _facts(one) == _facts(other)
    fields = dataclasses.replace(back, function=s.program.function)
    assert fields == s.program


def _facts(node):
    facts = {key: value for key, value in vars(node).items() if key in nodes.POSITIONS}
    facts |= {key: vars(node).get(key) or None for key in nodes.FACTS[:3]}
    origin = vars(node).get(nodes.FACTS[3])
    if origin is not None:
        facts["origin"] = (origin.statement, [ast.dump(each) for each in origin.iteration])
    return {key: value for key, value in facts.items() if value is not None}


def test_texts_tell_programs_apart():
    def text(source, **options):
        return stored.program_text(build_from_source(source, "f", **options), None)

    line = "def f(a, out):\n    for i in range(len(out)):\n        out[i] = a[i] * {}\n"
    sources = [line.format(each) for each in ("1", "1.0", "True", "-1")]
    sources += ["c = 1\n" + line.format("c"), "c = 2\n" + line.format("c")]
    sources.append("import numpy as np\nc = np.float32(1)\n" + line.format("c"))
    texts = [text(each) for each in sources]
    texts.append(text(sources[0], scratch=["out"]))
    assert len(set(texts)) == len(texts)
    assert texts[0] == text(sources[0])


def test_a_helper_counts():
    source = "def g(x):\n    return x + {}\n"
    source += "def f(a):\n    for i in range(len(a)):\n        a[i] = g(i)\n"
    one, other = (
        stored.program_text(build_from_source(source.format(n), "f"), None) for n in (1, 2)
    )
    assert one != other


def test_what_is_not_known_is_not_stored():
    program = build(blur)
    strange = program.cloned()
    strange.function.body[0].something = 1
    with pytest.raises(stored.NotStored):
        stored.program_text(strange, None)
    other = dataclasses.replace(program, scratch=frozenset({"out"}))
    with pytest.raises(stored.NotStored):
        stored.program_text(other, program)


def test_all_kernels_of_the_recipes_are_stored():
    for recipe in RECIPES:
        assert stored.program_text(Schedule(recipe.kernel).original, None)
