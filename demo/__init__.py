"""The demonstration: three physics programs, each run as plain Python and compiled, from the same functions."""
