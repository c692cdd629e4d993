/// A size in bytes: a number, or a text such as `"64KB"` or `"1MB"`. The units are those of the attributes: `KB` is 1,000 bytes, `KiB`
/// 1,024.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no number of bytes",
    label = "neither a number nor a text",
    note = "write `.max_result(1_000_000)` or `.max_result(\"1MB\")`"
)]
pub trait Size {
    /// Returns the size in bytes.
    ///
    /// # Errors
    /// Fails if the value is no size. The text says why.
    fn in_bytes(self) -> Result<usize, String>;
}

macro_rules! numbers {
    ($($ty:ty)*) => {$(
        impl Size for $ty {
            fn in_bytes(self) -> Result<usize, String> {
                usize::try_from(self).map_err(|_| format!("{self} is no size in bytes"))
            }
        }
    )*};
}
// `i32` is the type of a number without a suffix.
numbers! { i32 u32 u64 usize }

impl Size for &str {
    fn in_bytes(self) -> Result<usize, String> {
        let wrong =
            || format!("`{self}` is no size: write it as `64KB`, `1MiB` or a number of bytes");
        let digits = self.trim_end_matches(|it: char| it.is_ascii_alphabetic() || it == ' ');
        let unit = match self[digits.len()..].trim().to_ascii_uppercase().as_str() {
            "" | "B" => 1,
            "KB" => 1_000,
            "MB" => 1_000_000,
            "GB" => 1_000_000_000,
            "KIB" => 1 << 10,
            "MIB" => 1 << 20,
            "GIB" => 1 << 30,
            _ => return Err(wrong()),
        };
        let number: usize = digits.parse().map_err(|_| wrong())?;
        number.checked_mul(unit).ok_or_else(|| format!("`{self}` is too large a size"))
    }
}

#[cfg(test)]
mod tests {
    use super::Size;

    #[test]
    fn sizes() {
        assert_eq!("1MB".in_bytes(), Ok(1_000_000));
        assert_eq!("64 kib".in_bytes(), Ok(64 << 10));
        assert_eq!("12".in_bytes(), Ok(12));
        assert_eq!(12.in_bytes(), Ok(12));
        assert!("1 parsec".in_bytes().is_err());
        assert!("MB".in_bytes().is_err());
        assert!((-1).in_bytes().is_err());
    }
}
