"""The supervised systems that the paper compares with."""
