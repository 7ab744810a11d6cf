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

/// Names and columns of a table that [`front`] begins.
///
/// ```
/// use carom::sinks::npy::{front, parse};
/// let mut bytes = front(&["time".into(), "energy".into()], 1);
/// bytes.extend([0.5f64, 2.0].iter().flat_map(|value| value.to_le_bytes()));
/// assert_eq!(parse(&bytes), Ok((vec!["time".into(), "energy".into()], vec![vec![0.5], vec![2.0]])));
/// ```
pub fn parse(bytes: &[u8]) -> Result<(Vec<String>, Vec<Vec<f64>>), String> {
    let foreign = || "not a table that carom wrote".to_string();
    let rest = bytes.strip_prefix(MAGIC).ok_or_else(foreign)?;
    let (length, rest) = rest.split_first_chunk::<4>().ok_or_else(foreign)?;
    let length = u32::from_le_bytes(*length) as usize;
    let (text, data) = rest.split_at_checked(length).ok_or("cut off in its first line")?;
    let text = std::str::from_utf8(text).map_err(|_| foreign())?;
    let (fields, end) = text.split_once("], 'fortran_order': False, 'shape': (").ok_or_else(foreign)?;
    let names: Vec<String> = fields.split("('").skip(1).filter_map(|f| Some(f.split_once('\'')?.0.into())).collect();
    let rows: usize = end.split(',').next().and_then(|rows| rows.parse().ok()).ok_or_else(foreign)?;
    let needed = rows.checked_mul(names.len()).and_then(|numbers| numbers.checked_mul(8)).ok_or_else(foreign)?;
    let data = data.get(..needed).ok_or_else(|| format!("{rows} rows are announced, but the file is too short"))?;
    let mut columns = vec![Vec::with_capacity(rows); names.len()];
    for (k, number) in data.as_chunks::<8>().0.iter().enumerate() {
        columns[k % names.len()].push(f64::from_le_bytes(*number));
    }
    Ok((names, columns))
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
        let names = ["time"].map(String::from);
        let good = front(&names, 2);
        assert!(parse(&good).unwrap_err().contains("2 rows are announced"));
        for cut in 0..good.len() {
            assert!(parse(&good[..cut]).is_err(), "{cut}");
        }
        assert!(parse(&front(&names, u64::MAX)).is_err());
        assert!(parse(b"PK\x03\x04").unwrap_err().contains("not a table"));
    }
}
