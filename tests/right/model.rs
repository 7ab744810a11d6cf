//! Models that mean something else than they seem to, and properties that were computed wrongly.
