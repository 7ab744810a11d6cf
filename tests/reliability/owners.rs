//! One owner at a time, and nothing deleted that is not ours.
