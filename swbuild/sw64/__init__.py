"""The assembly language of the SW64 family: its syntax, and what each instruction reads, writes and occupies.

Nothing here knows the emulator or the generator.  The modules import the standard library alone, since the
compiler stand-ins, which run without site packages, use them.
"""
