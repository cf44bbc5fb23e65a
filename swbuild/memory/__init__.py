"""What lives in the LDM, and how it gets there and back."""

__all__: list[str] = []
