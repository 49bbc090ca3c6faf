"""Words with their places in a text, and sentences."""
