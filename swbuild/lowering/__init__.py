"""From an order, kernels and their memory to what the printers spell: trees, arguments, names."""

__all__: list[str] = []
