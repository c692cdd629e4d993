//! Rows of a statement, in the form that a model reads.

use mcp_runtime::prelude::*;
use rusqlite::{
    Statement, ToSql, params_from_iter,
    types::{ToSqlOutput, ValueRef},
};

/// Approximate maximum size of a result, in bytes. Clients show the model all of it.
const MAX_BYTES: usize = 50_000;
/// Number of bytes that a result shows of a blob.
const PREVIEW: usize = 16;
/// Greatest integer that clients in JavaScript read without a loss.
const MAX_INTEGER: u64 = (1 << 53) - 1;

/// Result of a statement.
#[data]
pub(crate) struct Rows {
    columns: Vec<String>,
    /// The values of each row, in the order of the columns
    rows: Vec<Vec<Value>>,
    /// Reason why rows or the end of a text are missing
    #[serde(skip_serializing_if = "Option::is_none")]
    truncated: Option<String>,
}

/// A value of SQLite.
#[data]
#[serde(untagged)]
pub(crate) enum Value {
    Null,
    /// Integers of more than 53 bits are texts
    Integer(i64),
    Real(f64),
    Text(String),
    Blob {
        /// Number of bytes
        bytes: usize,
        /// The first 16 bytes
        hex: String,
    },
}

/// A value of a parameter.
#[data]
#[serde(untagged, expecting = "a parameter is a number or a text")]
pub(crate) enum Parameter {
    Integer(i64),
    Real(f64),
    Text(String),
}

impl ToSql for Parameter {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        match self {
            Self::Integer(integer) => integer.to_sql(),
            Self::Real(real) => real.to_sql(),
            Self::Text(text) => text.to_sql(),
        }
    }
}

impl Rows {
    /// Runs the statement until it ends, has more than `limit` rows, or the result is too large.
    pub(crate) fn read(
        statement: &mut Statement<'_>,
        parameters: &[Parameter],
        limit: usize,
    ) -> rusqlite::Result<Self> {
        let columns: Vec<String> =
            statement.column_names().into_iter().map(str::to_owned).collect();
        let (mut rows, mut truncated, mut left) = (Vec::new(), None, MAX_BYTES);
        let mut found = statement.query(params_from_iter(parameters))?;
        while let Some(row) = found.next()? {
            if rows.len() == limit {
                truncated = Some(format!(
                    "there are more than {limit} rows: aggregate, or use LIMIT and OFFSET"
                ));
                break;
            }
            let mut values = Vec::with_capacity(columns.len());
            for column in 0..columns.len() {
                values.push(Value::read(row.get_ref(column)?, &mut left));
            }
            rows.push(values);
            if left == 0 {
                truncated = Some(format!(
                    "the result is larger than {MAX_BYTES} bytes: select fewer columns, or parts of texts with `substr`"
                ));
                break;
            }
        }
        Ok(Self { columns, rows, truncated })
    }
}

impl Value {
    /// Converts a value, and subtracts its size from the bytes that are `left`. A text that is longer is cut, and ends in `…`.
    fn read(value: ValueRef<'_>, left: &mut usize) -> Self {
        let value = match value {
            ValueRef::Null => Self::Null,
            ValueRef::Integer(integer) if integer.unsigned_abs() <= MAX_INTEGER => {
                Self::Integer(integer)
            }
            ValueRef::Integer(integer) => Self::Text(integer.to_string()),
            ValueRef::Real(real) if real.is_finite() => Self::Real(real),
            // JSON has no infinite numbers.
            ValueRef::Real(real) => Self::Text(real.to_string()),
            ValueRef::Text(bytes) => {
                let part = &bytes[..bytes.len().min(*left)];
                let cut = if part.len() < bytes.len() { "…" } else { "" };
                Self::Text(String::from_utf8_lossy(part).into_owned() + cut)
            }
            ValueRef::Blob(blob) => {
                let hex = blob.iter().take(PREVIEW).map(|byte| format!("{byte:02x}")).collect();
                Self::Blob { bytes: blob.len(), hex }
            }
        };
        let size = match &value {
            Self::Text(text) => text.len(),
            Self::Blob { hex, .. } => hex.len() + 20,
            Self::Null | Self::Integer(_) | Self::Real(_) => 4,
        };
        *left = left.saturating_sub(size + 3);
        value
    }
}
