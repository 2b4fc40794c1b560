"""What the benchmarks share; imported by programs of the folder above."""
