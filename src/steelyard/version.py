"""The version of this package, as results record it."""

__version__ = "0.1.0"
