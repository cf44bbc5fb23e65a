"""Model time: replay of the event traces of an emulated core group against the machine file."""
