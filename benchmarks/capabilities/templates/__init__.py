"""Templates of the behaviour suite, one module for each group of capabilities."""
