/// A number of bytes: a number, or a text such as `"64KB"` or `"1MB"`.
pub trait Size {
    /// In bytes.
    ///
    /// # Errors
    /// What is wrong with the text.
    fn in_bytes(&self) -> Result<usize, String>;
}

impl Size for u64 {
    fn in_bytes(&self) -> Result<usize, String> {
        usize::try_from(*self).map_err(|error| error.to_string())
    }
}

impl Size for usize {
    fn in_bytes(&self) -> Result<usize, String> {
        Ok(*self)
    }
}

impl Size for &str {
    fn in_bytes(&self) -> Result<usize, String> {
        let digits = self.trim_end_matches(|it: char| it.is_ascii_alphabetic() || it == ' ');
        let unit = match self[digits.len()..].trim().to_ascii_uppercase().as_str() {
            "" | "B" => 1,
            "KB" | "K" => 1 << 10,
            "MB" | "M" => 1 << 20,
            "GB" | "G" => 1 << 30,
            _ => {
                return Err(format!(
                    "`{self}` is no size: write it as `64KB`, `1MB` or a number of bytes"
                ));
            }
        };
        let number: usize = digits
            .parse()
            .map_err(|_| format!("`{self}` is no size: write it as `64KB` or `1MB`"))?;
        number.checked_mul(unit).ok_or_else(|| format!("`{self}` is too large a size"))
    }
}

#[cfg(test)]
mod tests {
    use super::Size;

    #[test]
    fn sizes() {
        assert_eq!("1MB".in_bytes(), Ok(1 << 20));
        assert_eq!("64 kb".in_bytes(), Ok(64 << 10));
        assert_eq!("12".in_bytes(), Ok(12));
        assert!("1 parsec".in_bytes().is_err());
        assert!("MB".in_bytes().is_err());
    }
}
