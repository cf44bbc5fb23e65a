"""Dependences, privatisation and schedules."""

__all__: list[str] = []
