"""Where kernels run: the emulator, a node behind a launcher, or this computer."""

__all__: list[str] = []
