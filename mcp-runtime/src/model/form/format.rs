/// Format of a text field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextFormat {
    Email,
    Uri,
    Date,
    DateTime,
}

impl TextFormat {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Email => "email",
            Self::Uri => "uri",
            Self::Date => "date",
            Self::DateTime => "date-time",
        }
    }

    /// Describes the format, for a text that does not have it.
    pub(super) fn expected(self) -> &'static str {
        match self {
            Self::Email => "an address such as ann@example.com",
            Self::Uri => "a URI such as https://example.com",
            Self::Date => "a date such as 2030-12-31",
            Self::DateTime => "a date and time such as 2030-12-31T18:30:00Z",
        }
    }

    /// Whether the text has the format, judged by the text alone: an email address may still not exist.
    pub(super) fn fits(self, text: &str) -> bool {
        match self {
            Self::Email => is_email(text),
            Self::Uri => is_uri(text),
            Self::Date => is_date(text.as_bytes()),
            Self::DateTime => is_date_time(text.as_bytes()),
        }
    }
}

fn is_email(text: &str) -> bool {
    let plain = !text.contains(|it: char| it.is_whitespace() || it.is_control());
    let parts = text.rsplit_once('@');
    plain && parts.is_some_and(|(user, host)| !user.is_empty() && !host.is_empty())
}

/// Whether the text is a scheme with at least one character after it (RFC 3986, section 3).
fn is_uri(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once(':') else { return false };
    let plain = !rest.contains(|it: char| it.is_whitespace() || it.is_control());
    let known = |it: u8| it.is_ascii_alphanumeric() || b"+-.".contains(&it);
    plain
        && !rest.is_empty()
        && scheme.starts_with(|it: char| it.is_ascii_alphabetic())
        && scheme.bytes().all(known)
}

/// `full-date` of RFC 3339.
fn is_date(text: &[u8]) -> bool {
    let [y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2] = text else { return false };
    let (Some(century), Some(of_century)) = (two(*y1, *y2), two(*y3, *y4)) else { return false };
    let (Some(month), Some(day)) = (two(*m1, *m2), two(*d1, *d2)) else { return false };
    let year = century * 100 + of_century;
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        4 | 6 | 9 | 11 => 30,
        2 => 28 + u32::from(leap),
        1..=12 => 31,
        _ => return false,
    };
    (1..=days).contains(&day)
}

/// `date-time` of RFC 3339, which requires the offset.
fn is_date_time(text: &[u8]) -> bool {
    let Some((date, time)) = text.split_at_checked(10) else { return false };
    let [b'T' | b't', clock @ ..] = time else { return false };
    let [h1, h2, b':', m1, m2, b':', s1, s2, rest @ ..] = clock else { return false };
    let below = |a: u8, b: u8, end: u32| two(a, b).is_some_and(|it| it < end);
    let rest = match rest {
        [b'.', rest @ ..] => {
            let digits = rest.iter().take_while(|it| it.is_ascii_digit()).count();
            if digits == 0 {
                return false;
            }
            &rest[digits..]
        }
        rest => rest,
    };
    let offset = match rest {
        [b'Z' | b'z'] => true,
        [b'+' | b'-', h1, h2, b':', m1, m2] => below(*h1, *h2, 24) && below(*m1, *m2, 60),
        _ => false,
    };
    // The 61st second is a leap second.
    is_date(date) && below(*h1, *h2, 24) && below(*m1, *m2, 60) && below(*s1, *s2, 61) && offset
}

fn two(tens: u8, ones: u8) -> Option<u32> {
    let digit = |it: u8| it.is_ascii_digit().then(|| u32::from(it - b'0'));
    Some(digit(tens)? * 10 + digit(ones)?)
}

#[cfg(test)]
mod tests {
    use super::TextFormat;

    fn check(format: TextFormat, right: &[&str], wrong: &[&str]) {
        for text in right {
            assert!(format.fits(text), "{text} is {}", format.expected());
        }
        for text in wrong {
            assert!(!format.fits(text), "{text} is not {}", format.expected());
        }
    }

    #[test]
    fn formats_are_recognised() {
        check(TextFormat::Email, &["ann@example.com", "a@b"], &["ann", "@b", "a@", "a b@c", ""]);
        check(
            TextFormat::Uri,
            &["https://example.com/?a", "urn:x:y"],
            &["example.com", ":x", "1:x", "x:", "x:a b"],
        );
        check(
            TextFormat::Date,
            &["2024-02-29", "2000-02-29", "2030-12-31"],
            &[
                "2023-02-29",
                "1900-02-29",
                "2030-13-01",
                "2030-04-31",
                "2030-1-1",
                "30-01-01",
                "2030-01-00",
                "",
            ],
        );
        check(
            TextFormat::DateTime,
            &["2030-12-31T18:30:00Z", "2030-12-31t23:59:60.25+05:30"],
            &[
                "2030-12-31",
                "2030-12-31T18:30:00",
                "2030-12-31T24:00:00Z",
                "2030-12-31T18:30:00.Z",
                "2030-12-31T18:30Z",
            ],
        );
    }
}
