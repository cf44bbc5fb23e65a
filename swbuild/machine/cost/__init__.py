"""What things cost on a machine, in cycles of its CPEs: formulas over the numbers of the machine file.

The emulator's replay and the generator's estimates rest on the same ones.
"""

__all__: list[str] = []
