//! How much memory a run may take: what the user says, else what the machine has left.

use crate::{Error, Result};
use std::fmt;
use std::fs;

/// A bound on memory, and who set it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limit {
    /// Bytes.
    pub bytes: u64,
    /// Who set it, in words.
    pub origin: &'static str,
}

/// Part of a limit on addresses that can be filled: libraries, stacks and what is asked for but never touched take the rest.
const OF_ADDRESSES: f64 = 0.8;

impl Limit {
    /// A limit of the command line.
    pub fn given(bytes: u64) -> Limit {
        Limit { bytes, origin: "--max-memory" }
    }

    /// The tightest limit that the operating system tells of: memory that is available, the limit of the control group
    /// (containers, Slurm), the limit on addresses (`ulimit -v`). None where it tells of none.
    pub fn of_machine() -> Option<Limit> {
        let read = |path: &str| fs::read_to_string(path).ok();
        let available = read("/proc/meminfo").and_then(|text| after(&text, "MemAvailable:")).map(|kilo| kilo * 1024);
        let addresses = read("/proc/self/limits").and_then(|text| after(&text, "Max address space"));
        let found = [
            available.map(|bytes| Limit { bytes, origin: "memory that is available" }),
            control_group().map(|bytes| Limit { bytes, origin: "limit of the control group" }),
            addresses.map(|bytes| Limit {
                bytes: (OF_ADDRESSES * bytes as f64) as u64,
                origin: "limit on addresses, ulimit -v",
            }),
        ];
        found.into_iter().flatten().min_by_key(|limit| limit.bytes)
    }

    /// What one of several runs at the same time may take.
    pub fn shared(mut self, runs: usize) -> Limit {
        self.bytes /= runs.max(1) as u64;
        self
    }

    /// Refuses what takes more; `what` tells the sizes that make it so large.
    pub fn demand(&self, bytes: u64, what: &str) -> Result<()> {
        if bytes <= self.bytes {
            return Ok(());
        }
        Err(Error::Input(format!(
            "the run would take about {}, but {self} is the limit\n  {what}\n  allowed: fewer elements or contact nodes, \
             fewer runs at once (--threads), another machine, or a limit of your own, --max-memory SIZE",
            Size(bytes)
        )))
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", Size(self.bytes), self.origin)
    }
}

/// The first number behind a word in a text; none if it is `unlimited`.
fn after(text: &str, word: &str) -> Option<u64> {
    let rest = text.lines().find_map(|line| line.strip_prefix(word))?;
    rest.split_whitespace().next()?.parse().ok()
}

/// What the control group of this process may still take; none if nothing bounds it.
fn control_group() -> Option<u64> {
    let groups = fs::read_to_string("/proc/self/cgroup").ok()?;
    let number = |path: String| fs::read_to_string(path).ok()?.trim().parse::<u64>().ok();
    let of_group = |line: &str| {
        let mut parts = line.splitn(3, ':').skip(1);
        let (controllers, path) = (parts.next()?, parts.next()?);
        // A container sees its own group as the root.
        let names = match controllers {
            "" => ("/sys/fs/cgroup", "memory.max", "memory.current"),
            "memory" => ("/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes"),
            _ => return None,
        };
        [path, ""].iter().find_map(|path| {
            let dir = format!("{}{}", names.0, path.trim_end_matches('/'));
            let most = number(format!("{dir}/{}", names.1))?;
            // Version 1 says no limit with a number beyond every machine.
            (most < 1 << 60).then(|| most.saturating_sub(number(format!("{dir}/{}", names.2)).unwrap_or(0)))
        })
    };
    groups.lines().filter_map(of_group).min()
}

/// Bytes as people write them.
pub struct Size(pub u64);

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            bytes @ 0..10_000 => write!(f, "{bytes} bytes"),
            bytes @ 10_000..10_000_000 => write!(f, "{} kB", bytes / 1000),
            bytes @ 10_000_000..10_000_000_000 => write!(f, "{} MB", bytes / 1_000_000),
            bytes => write!(f, "{:.1} GB", bytes as f64 / 1e9),
        }
    }
}

/// Bytes from a text such as 800MB, 4GB or 2GiB.
///
/// ```
/// assert_eq!(carom::memory::parse_size("800MB"), Ok(800_000_000));
/// assert_eq!(carom::memory::parse_size("2GiB"), Ok(2 << 30));
/// assert!(carom::memory::parse_size("2").is_err());
/// ```
pub fn parse_size(text: &str) -> std::result::Result<u64, String> {
    let units = [
        ("kB", 1e3),
        ("MB", 1e6),
        ("GB", 1e9),
        ("TB", 1e12),
        ("KiB", 1024.0),
        ("MiB", 1048576.0),
        ("GiB", 1073741824.0),
    ];
    let split = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let factor = units.iter().find(|(name, _)| *name == unit.trim()).map(|(_, factor)| *factor);
    let value = number.trim().parse::<f64>().ok().filter(|value| value.is_finite() && *value > 0.0);
    match (value, factor) {
        (Some(value), Some(factor)) if value * factor < u64::MAX as f64 => Ok((value * factor) as u64),
        _ => Err("a size is a positive number and one of kB, MB, GB, TB, KiB, MiB, GiB, as in 800MB".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_without_unit_or_sense_are_refused() {
        for text in ["", "MB", "-1GB", "0GB", "nanGB", "1e30GB", "10", "10 bytes", "1,5GB"] {
            assert!(parse_size(text).unwrap_err().contains("as in 800MB"), "{text}");
        }
        assert_eq!(parse_size("1.5 GB"), Ok(1_500_000_000));
    }

    #[test]
    fn the_words_of_the_system_are_read() {
        assert_eq!(after("MemFree: 5 kB\nMemAvailable:   7 kB\n", "MemAvailable:"), Some(7));
        assert_eq!(
            after("Max address space         unlimited            unlimited            bytes\n", "Max address space"),
            None
        );
        let limits =
            "Max cpu time unlimited\nMax address space         4096000              4096000              bytes\n";
        assert_eq!(after(limits, "Max address space"), Some(4_096_000));
    }

    #[test]
    fn a_refusal_tells_estimate_limit_and_remedy() {
        let limit = Limit::given(800_000_000);
        assert!(limit.demand(800_000_000, "").is_ok());
        let text = limit.clone().shared(2).demand(12_345_000_000, "7 nodes").unwrap_err().to_string();
        for words in ["about 12.3 GB", "400 MB (--max-memory)", "7 nodes", "fewer elements"] {
            assert!(text.contains(words), "{text}");
        }
    }
}
