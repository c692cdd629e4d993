//! Whole-server tests: see the folders beside this one.
