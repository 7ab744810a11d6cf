//! NumPy's file format for a table: names and number of rows in front, then rows of 64-bit floats.
//!
//! `numpy.load` gives an array with one field per column. The front has the same length for any number of rows, so that
//! it can be written first and filled in later.

/// First bytes of every such file, and the version of the layout.
const MAGIC: &[u8] = b"\x93NUMPY\x02\x00";

/// The front of a table with these columns and this many rows.
pub fn front(names: &[String], rows: u64) -> Vec<u8> {
    let fields: Vec<String> = names.iter().map(|name| format!("('{name}', '<f8')")).collect();
    // Twenty digits hold every count.
    let text = format!("{{'descr': [{}], 'fortran_order': False, 'shape': ({rows},), }}", fields.join(", "));
    let longest = text.len() - rows.to_string().len() + 20;
    let length = (MAGIC.len() + 4 + longest + 1).next_multiple_of(64) - MAGIC.len() - 4;
    let mut bytes = MAGIC.to_vec();
    bytes.extend((length as u32).to_le_bytes());
    bytes.extend(text.as_bytes());
    bytes.resize(MAGIC.len() + 4 + length - 1, b' ');
    bytes.push(b'\n');
    bytes
}

/// Bytes of a table's beginning that tell how long its front is.
pub const START: usize = MAGIC.len() + 4;

/// Length of the front of the table that begins with these [`START`] bytes.
pub fn front_length(start: &[u8; START]) -> Result<usize, String> {
    let length = start.strip_prefix(MAGIC).and_then(|rest| rest.first_chunk::<4>()).ok_or_else(foreign)?;
    let length = START.saturating_add(u32::from_le_bytes(*length) as usize);
    if length <= LONGEST { Ok(length) } else { Err(format!("{length} bytes before the first row: {}", foreign())) }
}

/// Longest front that is read: that of some hundred thousand columns.
const LONGEST: usize = 1 << 24;

/// Names of the columns and number of rows that a whole [`front`] tells.
///
/// ```
/// use carom::sinks::npy::{front, parse_front};
/// let names = vec!["time".to_string(), "energy".to_string()];
/// assert_eq!(parse_front(&front(&names, 7)), Ok((names, 7)));
/// ```
pub fn parse_front(bytes: &[u8]) -> Result<(Vec<String>, u64), String> {
    let text = bytes.get(START..).and_then(|text| std::str::from_utf8(text).ok()).ok_or_else(foreign)?;
    let (fields, end) = text.split_once("], 'fortran_order': False, 'shape': (").ok_or_else(foreign)?;
    let names: Vec<String> = fields.split("('").skip(1).filter_map(|f| Some(f.split_once('\'')?.0.into())).collect();
    let rows = end.split(',').next().and_then(|rows| rows.parse().ok()).ok_or_else(foreign)?;
    Ok((names, rows))
}

fn foreign() -> String {
    "not a table that carom wrote".into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_front_keeps_its_length() {
        let names = ["step", "contact.wall.force"].map(String::from);
        let lengths = [0, 1, 99, u64::MAX].map(|rows| front(&names, rows).len());
        assert!(lengths.iter().all(|&length| length == lengths[0] && length % 64 == 0), "{lengths:?}");
    }

    #[test]
    fn what_is_broken_is_refused() {
        let good = front(&["time".to_string()], 2);
        let start = good.first_chunk().unwrap();
        assert_eq!(front_length(start), Ok(good.len()));
        let mut long = *start;
        long[START - 4..].fill(0xff);
        assert!(front_length(&long).unwrap_err().contains("not a table"));
        assert!(front_length(b"PK\x03\x04........").unwrap_err().contains("not a table"));
        for cut in 0..good.len() / 2 {
            assert!(parse_front(&good[..cut]).is_err(), "{cut}");
        }
    }
}
