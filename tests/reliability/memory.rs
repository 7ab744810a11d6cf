//! Memory: what a run takes, what check says it takes, and what a report may take.
