"""The values between the stages of the generator as text: made to be read, and to be compared."""

from swbuild.dump.stages import Stage, parse_stages

__all__ = ["Stage", "parse_stages"]
