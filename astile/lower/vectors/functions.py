"""Functions of numbers that there are for vectors too."""

#: Function -> the one of vectors that does the same to each lane. The operands get the type of
#: the result.
ALIKE = {
    "min": "smaller",
    "max": "larger",
    "abs": "magnitude",
    "math.fabs": "magnitude",
    "math.sqrt": "square_root",
    "numpy.abs": "magnitude",
    "numpy.absolute": "magnitude",
    "numpy.fabs": "magnitude",
    "numpy.floor": "round_down",
    "numpy.maximum": "maximum",
    "numpy.minimum": "minimum",
    "numpy.sqrt": "square_root",
}
#: The same for functions whose last digit may be another one than that of NumPy or C.
NEARLY = {
    "math.exp": "exponential",
    "math.log": "logarithm",
    "math.tanh": "hyperbolic_tangent",
    "numpy.exp": "exponential",
    "numpy.log": "logarithm",
    "numpy.tanh": "hyperbolic_tangent",
}
#: Those of `ALIKE` that take two values.
OF_TWO = ("smaller", "larger", "minimum", "maximum")
#: Those that take floating-point numbers only.
OF_FLOATS = ("square_root", "round_down", *NEARLY.values())
