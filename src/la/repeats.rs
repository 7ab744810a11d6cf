//! Numbers that repeat themselves, as the constants of equal elements do: reading the first of them again and again, which
//! stay in the nearest cache, saves the way to distant ones.

use std::ops::Range;

/// Numbers after which a vector may repeat itself: a multiple of the unknowns per node, one to three, and of the numbers that
/// a processor takes at once.
const PERIOD: usize = 12;

/// The longest stretch of so many places in which each is like the one a period further.
pub fn stretch(count: usize, period: usize, like: impl Fn(usize) -> bool) -> Range<usize> {
    let (mut longest, mut start) = (0..0, 0);
    for i in 0..count.saturating_sub(period) {
        if !like(i) {
            start = i + 1;
        } else if i + period + 1 - start > longest.len() {
            longest = start..i + period + 1;
        }
    }
    longest
}

/// The longest stretch of a vector in which it repeats itself.
pub fn repeating(x: &[f64]) -> Range<usize> {
    stretch(x.len(), PERIOD, |i| x[i] == x[i + PERIOD])
}

/// The numbers of a range, where they come first in the stretch in which `x` repeats itself.
#[inline(always)]
pub fn earliest<'a>(x: &'a [f64], repeating: &Range<usize>, range: Range<usize>) -> &'a [f64] {
    let inside = repeating.start <= range.start && range.end <= repeating.end;
    let shift = if inside { (range.start - repeating.start) / PERIOD * PERIOD } else { 0 };
    &x[range.start - shift..range.end - shift]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_of_what_repeats_itself() {
        let mut x: Vec<f64> = (0..100).map(|i| f64::from(i % 6)).collect();
        for odd in [None, Some(3), Some(99), Some(40)] {
            if let Some(odd) = odd {
                x[odd] = 77.0;
            }
            let found = repeating(&x);
            assert!(found.len() >= 40 && odd.is_none_or(|odd| !found.contains(&odd)), "{found:?}");
            for start in 0..x.len() {
                for end in start..x.len() {
                    let part = earliest(&x, &found, start..end);
                    assert_eq!(part, &x[start..end]);
                    if found.start <= start && end <= found.end {
                        assert!(std::ptr::eq(part, &x[found.start + (start - found.start) % PERIOD..][..end - start]));
                    }
                }
            }
        }
        assert!(repeating(&x[..PERIOD]).is_empty() && repeating(&[f64::NAN; 20]).is_empty());
        assert_eq!(stretch(5, 1, |i| i != 1), 2..5);
    }
}
