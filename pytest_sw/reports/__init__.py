"""The reports of a session: for programs, for people, for CI systems."""
