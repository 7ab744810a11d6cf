//! The closing loop: what takes part in a contact problem is not known before the problem is solved.

use crate::Result;

/// A contact problem on a set of contacts that may turn out too small.
pub trait Closing {
    /// Finds what the problem needs to know of a contact that takes part, unless it is known.
    fn column(&mut self, contact: usize) -> Result<()>;

    /// Solves the problem of these contacts.
    fn solve(&mut self, active: &[u32]) -> Result<()>;

    /// Whether the solution pushes a contact that took no part through its obstacle.
    fn is_missing(&self, contact: usize) -> bool;
}

/// Solves the problem of the contacts in `active`, and takes in what is missing of `count` contacts in all, until nothing is.
pub fn close(problem: &mut impl Closing, count: usize, active: &mut Vec<u32>) -> Result<()> {
    loop {
        for &contact in &*active {
            problem.column(contact as usize)?;
        }
        problem.solve(active)?;
        let before = active.len();
        for contact in 0..count {
            if problem.is_missing(contact) && !active[..before].contains(&(contact as u32)) {
                active.push(contact as u32);
            }
        }
        if active.len() == before {
            return Ok(());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each contact that is closed opens the next one behind it, up to the fourth.
    #[derive(Default)]
    struct Row {
        known: Vec<usize>,
        solved: Vec<u32>,
    }

    impl Closing for Row {
        fn column(&mut self, contact: usize) -> Result<()> {
            if !self.known.contains(&contact) {
                self.known.push(contact);
            }
            Ok(())
        }

        fn solve(&mut self, active: &[u32]) -> Result<()> {
            assert!(active.iter().all(|&contact| self.known.contains(&(contact as usize))), "columns come first");
            self.solved = active.to_vec();
            Ok(())
        }

        fn is_missing(&self, contact: usize) -> bool {
            contact < 4 && contact > 0 && self.known.contains(&(contact - 1))
        }
    }

    #[test]
    fn contacts_are_taken_in_until_none_is_missing() {
        let (mut row, mut active) = (Row::default(), vec![1]);
        close(&mut row, 10, &mut active).unwrap();
        assert_eq!(active, [1, 2, 3]);
        assert_eq!(row.solved, active, "what was taken in last is in the solution");
    }
}
