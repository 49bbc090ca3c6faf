"""Other libraries of the field, each met by functions on its own values; none is imported here."""
