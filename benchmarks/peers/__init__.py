"""The libraries that astile is measured beside, one module each, imported only where one runs.

A module has `variants(workload, arguments, threads)`: the ways in which its library computes a
workload, by name; none where there is no way. The fastest of them is measured.
"""
