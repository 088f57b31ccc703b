"""What other systems call their primitives is on the page of primitives, each of them."""

from __future__ import annotations

import re

import pytest

from astile.schedule.elsewhere import CALLED
from tests.support.package import ROOT

#: As of their documentation in 2026; groups of one kind, such as `sample_...`, by one name.
ELSEWHERE = {
    "TVM": """
        add_unit_loop annotate annotate_buffer_access bind blockize cache_index cache_inplace
        cache_read cache_write compute_at compute_inline decompose_padding decompose_reduction fuse
        fuse_reduction_epilogue get_child_blocks get_consumers get_loops get_output_blocks
        get_producers get_sblock loop_partition merge pad_einsum parallel rfactor reindex read_at
        reindex_cache_read reindex_cache_write reorder reorder_block_iter_var reverse_compute_at
        reverse_compute_inline rolling_buffer sample_categorical sample_perfect_tile set_scope split
        storage_align tensorize transform_block_layout transform_layout unannotate unroll
        unsafe_hide_buffer_access unsafe_set_dtype vectorize write_at
    """,
    "Exo": """
        simplify rename make_instr insert_pass insert_noop_call delete_pass reorder_stmts
        parallelize_loop commute_expr left_reassociate_expr rewrite_expr bind_expr extract_subproc
        inline replace call_eqv set_precision set_window set_memory bind_config delete_config
        write_config resize_dim expand_dim rearrange_dim divide_dim mult_dim unroll_buffer
        lift_alloc sink_alloc autolift_alloc delete_buffer reuse_buffer inline_window stage_mem
        divide_with_recompute divide_loop mult_loops join_loops cut_loop shift_loop reorder_loops
        merge_writes split_write fold_into_reduce inline_assign lift_reduce_constant fission
        autofission fuse remove_loop add_loop unroll_loop lift_scope eliminate_dead_code specialize
        add_unsafe_guard interleave_loop unroll_and_jam auto_stage_mem hoist_stmt cse
    """,
    "Halide": """
        split fuse reorder tile unroll vectorize parallel serial bound bound_extent bound_storage
        align_bounds align_extent align_storage compute_at compute_root compute_with store_at
        store_root hoist_storage fold_storage ring_buffer async memoize specialize specialize_fail
        rfactor atomic gpu_blocks gpu_threads gpu_lanes gpu_tile gpu_single_thread prefetch
        allow_race_conditions partition never_partition always_partition in clone_in store_in
        reorder_storage rename purify set_estimate trace_stores add_trace_tag hexagon no_profiling
        eager_inline no_asserts
    """,
    "Loopy": """
        split_iname chunk_iname join_inames tag_inames untag_inames duplicate_inames rename_iname
        prioritize_loops split_reduction_inward split_reduction_outward
        make_reduction_inames_unique add_inames_to_insn remove_inames_from_insn map_domain
        add_inames_for_unused_hw_axes assume fix_parameters extract_subst assignment_to_subst
        expand_subst precompute add_prefetch buffer_array alias_temporaries
        privatize_temporaries_with_inames privatize unprivatize tag_array_axes split_array_axis
        add_padding add_barrier add_dependency add_nosync fuse_kernels rename_inames_in_batch
        to_batched save_and_reload_temporaries realize_reduction
    """,
}


@pytest.mark.parametrize(("name", "primitive"), CALLED.items())
def test_what_is_suggested_for_a_name_from_elsewhere_is_in_its_row(
    name: str, primitive: str
) -> None:
    text = (ROOT / "docs" / "primitives.md").read_text(encoding="utf-8")
    row = re.search(rf"^\| `{primitive}\(.*$", text, re.MULTILINE)
    assert row is not None
    words = name.replace("_", "[_ -]")
    assert re.search(words, row[0], re.IGNORECASE), row[0]


@pytest.mark.parametrize("system", ELSEWHERE)
def test_each_primitive_has_a_counterpart_or_a_reason(system: str) -> None:
    text = (ROOT / "docs" / "primitives.md").read_text(encoding="utf-8")
    missing = [each for each in ELSEWHERE[system].split() if not re.search(rf"\b{each}\b", text)]
    assert missing == []
