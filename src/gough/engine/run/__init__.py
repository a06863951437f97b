"""Compiled programs: cache, kernels, batches, threads."""
