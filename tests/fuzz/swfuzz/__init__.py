"""Random affine C programs, generated, built against a sequential mock of the core group, and compared."""
