"""A module of long lines."""

import math

import numpy as np
from numpy import float32, int32

from astile.loops import block, shared, thread

LIMIT = 3
WEIGHT = -0.5


def kernel_with_a_long_name(first_argument, second_argument, third_argument, fourth_one, fifth=1.0):
    """A docstring, which may be as long as it likes: f(aaaaaaaaaaaaaaaaa, bbbbbbbbbbbbbbbbbbb, ccccccccc)

    x = f(aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa, bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb, ccccccccccccccccccccccccc)
    """
    by[y, x] = (
        K2 * (gray[ym2, x] + gray[yp2, x]) + K1 * (gray[ym1, x] + gray[yp1, x]) + K0 * gray[y, x]
    ) / NORM
    out[i_0 * 16 + i_1, j_0 * 16 + j_1, k_0 * 32 + k_1 + 1, l_0] = (
        out[i_0 * 16 + i_1, j_0 * 16 + j_1, k_0] + 1
    )
    out[i_0 * 16 + i_1, j_0 * 16 + j_1] += (
        weights[p, q] * image[i_0 * 16 + i_1 + p, j_0 * 16 + j_1 + q] * LIMIT
    )
    lap[i, j, k] = 4.0 * inp[i + 1, j + 1, k] - (
        inp[i + 2, j + 1, k] + inp[i, j + 1, k] + inp[i + 1, j + 2, k]
    )
    value[position, other_position] = (
        -first_operand_with_a_name ** 2 * -second_operand_with_a_name % third_operand
    )
    if (
        i_0 * 16 + i_1 < n_rows_of_the_output
        and j_0 * 16 + j_1 < n_columns_of_the_output
        and k_0 * 4 + k_1 < LIMIT
    ):
        out[i, j] = foo(
            a_very_long_argument_name_number_one,
            a_very_long_argument_name_number_two,
            third_argument,
        )
    elif (
        first_condition_with_a_long_name
        or second_condition_with_a_long_name and not third_condition_with_a_name
    ):
        out[i, j] = (
            first_value_with_a_long_name
            if first_condition_with_a_long_name < 0
            else second_value_of_a_long_name
        )
    for tile in range(
        max(0, (first_bound_of_this_loop + 16) // 32, second_bound),
        min(third_bound, fourth_bound * 16 + 15),
        16,
    ):
        tile_of_the_image = shared.empty(
            (rows_of_the_tile + 2 * LIMIT, columns_of_the_tile + 2 * LIMIT), np.float32
        )
        first, second, third = (
            image[y - 1, x - 1] * WEIGHT, image[y - 1, x] * WEIGHT, image[y - 1, x + 1] * WEIGHT
        )

    while (
        position < number_of_positions_in_this_row
        and image[row, position] != image[row, position + 1] * 2
    ):
        position += 1

    assert (
        first_operand_with_a_name.shape[0] == second_operand_with_a_name.shape[0]
    ), "arrays differ in length"
    temporary_with_a_long_name = some_array_with_a_long_name_too.astype(np.float32).reshape(
        rows, columns
    ).copy()
    raise ValueError(
        "the arrays have different lengths, namely", first_operand_with_a_name, second_operand_name
    )
    return (
        first_value_with_a_long_name,
        second_value_with_a_long_name,
        third_value_with_a_long_name,
        fourth,
    )


def small(x):
    return x
