"""Integrations with other libraries, as functions on their own values; none is imported here."""
