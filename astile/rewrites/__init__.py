"""Program to Program, one primitive a file; each is loaded when it is first used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from astile import deferred

if TYPE_CHECKING:
    from astile.rewrites import annotate as annotate
    from astile.rewrites import bind as bind
    from astile.rewrites import cache_read as cache_read
    from astile.rewrites import cache_write as cache_write
    from astile.rewrites import compute_at as compute_at
    from astile.rewrites import compute_inline as compute_inline
    from astile.rewrites import compute_root as compute_root
    from astile.rewrites import decompose_reduction as decompose_reduction
    from astile.rewrites import distribute as distribute
    from astile.rewrites import double_buffer as double_buffer
    from astile.rewrites import expand as expand
    from astile.rewrites import fuse as fuse
    from astile.rewrites import merge as merge
    from astile.rewrites import parallel as parallel
    from astile.rewrites import peel as peel
    from astile.rewrites import pipeline as pipeline
    from astile.rewrites import reorder as reorder
    from astile.rewrites import reuse_buffer as reuse_buffer
    from astile.rewrites import reverse as reverse
    from astile.rewrites import reverse_compute_at as reverse_compute_at
    from astile.rewrites import reverse_compute_inline as reverse_compute_inline
    from astile.rewrites import rfactor as rfactor
    from astile.rewrites import rolling_buffer as rolling_buffer
    from astile.rewrites import set_scope as set_scope
    from astile.rewrites import shift as shift
    from astile.rewrites import skew as skew
    from astile.rewrites import specialize as specialize
    from astile.rewrites import split as split
    from astile.rewrites import storage_align as storage_align
    from astile.rewrites import store_at as store_at
    from astile.rewrites import tensorize as tensorize
    from astile.rewrites import transform_layout as transform_layout
    from astile.rewrites import unroll as unroll
    from astile.rewrites import vectorize as vectorize
else:
    __getattr__ = deferred.modules_of(__name__)
