"""How fast streamkit is: `python -m benchmarks` prints a table of ratios."""
