"""Fuzzing: `roads` is the invariant, `run` the fuzzer, `make_corpus` makes the seeds."""
