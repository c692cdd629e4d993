//! An argument that `serde_json` has refused, read as its client may have meant it.

use super::reader::{ArgumentReader, Leniency, NullField, ReadError};
use crate::wire::Raw;

/// Bytes that are read for one argument before it is refused, however much is left to be lenient about.
const MOST_BYTES: usize = 16 << 20;

/// Readings of an argument that is too large for [`MOST_BYTES`].
const LEAST_READINGS: usize = 4;

/// Reads `raw` again and again, each time a little more leniently, until `read` can read it or nothing is left to be lenient about:
/// once for each field whose `null` is refused, and at most three times more.
///
/// A `null` counts as no member where the type refuses it and the field has a default.
pub(super) fn read<R>(
    raw: Raw<'_>,
    mut read: impl FnMut(&mut ArgumentReader<'_, '_>) -> Result<R, ReadError>,
) -> Result<R, ReadError> {
    let mut leniency = Leniency::default();
    // Without a default they would be missing, and then `null` is what is wrong.
    let mut required: Vec<NullField> = Vec::new();
    let most = LEAST_READINGS.max(MOST_BYTES / raw.as_str().len().max(1));
    let mut readings = 0;
    loop {
        readings += 1;
        let error = match read(&mut ArgumentReader::new(raw, &leniency)) {
            Ok(value) => return Ok(value),
            Err(error) => error,
        };
        let refused = leniency.refused.take().filter(|it| !required.contains(it));
        let missing = leniency.skipped.iter().position(|it| error.missing == Some(&*it.name));
        if readings >= most {
            return Err(error);
        } else if let Some(refused) = refused {
            leniency.skipped.push(refused);
        } else if let Some(missing) = missing {
            required.push(leniency.skipped.swap_remove(missing));
        } else if leniency.has_met_integer.get() && !leniency.integers_everywhere {
            leniency.integers_everywhere = true;
        } else {
            return Err(error);
        }
    }
}
