//! Lenient reading of an argument that `serde_json` has refused.

use mcp_runtime_wire::Raw;

use super::reader::{ArgumentReader, Leniency, NullField, ReadError};

/// Maximum number of bytes that are read for one argument, all readings together.
const MOST_BYTES: usize = 16 << 20;

/// Number of readings that an argument gets even if it is too large for [`MOST_BYTES`].
const LEAST_READINGS: usize = 4;

/// Reads `raw` several times, each time more leniently, until `read` succeeds or no leniency is left. There is one reading for each field
/// whose `null` is refused, and at most three more.
///
/// If the type of a field refuses `null` and the field has a default, a `null` counts as a missing member.
pub(super) fn read<R>(
    raw: Raw<'_>,
    mut read: impl FnMut(&mut ArgumentReader<'_, '_>) -> Result<R, ReadError>,
) -> Result<R, ReadError> {
    let mut leniency = Leniency::default();
    // Fields without a default, whose `null` is the error.
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
