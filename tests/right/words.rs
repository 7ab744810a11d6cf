//! What carom says of a run: words, counts, pictures and advice that misled.
