"""The files of the model `base`, which otalign finds by an entry point; README.md is its card."""
