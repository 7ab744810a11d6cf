//! Power cuts, and kills and faults at every call of the file system.
