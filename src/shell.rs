//! Paths and words as a shell reads them back, for hints that are copied from a message.

use std::path::Path;

/// A path as one word of a POSIX shell; control characters and bytes that are no UTF-8 as bash and zsh take them.
///
/// ```
/// use carom::shell::quoted;
/// assert_eq!(quoted("out/bar".as_ref()), "out/bar");
/// assert_eq!(quoted("my run; it's".as_ref()), r"'my run; it'\''s'");
/// assert_eq!(quoted("-o".as_ref()), "-o");
/// assert_eq!(quoted("two\nlines".as_ref()), r"$'two\x0alines'");
/// ```
pub fn quoted(path: &Path) -> String {
    let bytes = path.as_os_str().as_encoded_bytes();
    let plain = |&byte: &u8| byte.is_ascii_alphanumeric() || b"_-./,:+@%=".contains(&byte);
    match path.to_str() {
        Some(text) if !text.is_empty() && bytes.iter().all(plain) => text.into(),
        Some(text) if !text.chars().any(char::is_control) => format!("'{}'", text.replace('\'', r"'\''")),
        _ => {
            let escaped = |&byte: &u8| match byte {
                b'\\' | b'\'' => format!("\\{}", byte as char),
                b' '..=b'~' => (byte as char).to_string(),
                _ => format!("\\x{byte:02x}"),
            };
            format!("$'{}'", bytes.iter().map(escaped).collect::<String>())
        }
    }
}

/// A path as an argument of a command: like [`quoted`], and never taken for an option.
///
/// ```
/// assert_eq!(carom::shell::argument("-o".as_ref()), "./-o");
/// ```
pub fn argument(path: &Path) -> String {
    if path.as_os_str().as_encoded_bytes().starts_with(b"-") {
        quoted(&Path::new(".").join(path))
    } else {
        quoted(path)
    }
}
