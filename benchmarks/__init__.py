"""Measurements of astile beside other libraries; not part of the package."""
