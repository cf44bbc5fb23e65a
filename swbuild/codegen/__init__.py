"""Printers: host, slave and header files, and the report."""

__all__: list[str] = []
