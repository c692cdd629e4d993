use serde_json::Value;

/// Set of JSON types. `number` consists of two types, so that it can be told from `integer`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Types(u8);

static NAMES: [(&str, u8); 7] = [
    ("null", Types::NULL.0),
    ("boolean", Types::BOOLEAN.0),
    ("number", Types::NUMBER.0),
    ("integer", Types::INTEGER.0),
    ("string", Types::STRING.0),
    ("array", Types::ARRAY.0),
    ("object", Types::OBJECT.0),
];

impl Types {
    pub(super) const NONE: Self = Self(0);
    pub(super) const NULL: Self = Self(1);
    pub(super) const BOOLEAN: Self = Self(1 << 1);
    pub(super) const INTEGER: Self = Self(1 << 2);
    /// Numbers that are not whole.
    const FRACTION: Self = Self(1 << 3);
    pub(super) const NUMBER: Self = Self(Self::INTEGER.0 | Self::FRACTION.0);
    pub(super) const STRING: Self = Self(1 << 4);
    pub(super) const ARRAY: Self = Self(1 << 5);
    pub(super) const OBJECT: Self = Self(1 << 6);
    pub(super) const ALL: Self = Self(0x7f);

    /// Returns the types that `type` names, or `None` if it names a type that JSON does not have.
    pub(super) fn said(keyword: &Value) -> Option<Self> {
        match keyword {
            Value::String(name) => Self::named(name),
            Value::Array(names) => names
                .iter()
                .map(|it| it.as_str().and_then(Self::named))
                .try_fold(Self::NONE, |all, it| Some(all.or(it?))),
            _ => None,
        }
    }

    fn named(name: &str) -> Option<Self> {
        NAMES.iter().find(|it| it.0 == name).map(|it| Self(it.1))
    }

    pub(super) fn of(value: &Value) -> Self {
        match value {
            Value::Null => Self::NULL,
            Value::Bool(_) => Self::BOOLEAN,
            // `1.0` is an integer (JSON Schema Core, 4.2.3).
            Value::Number(it) if it.as_f64().is_some_and(|it| it.fract() != 0.0) => Self::FRACTION,
            Value::Number(_) => Self::INTEGER,
            Value::String(_) => Self::STRING,
            Value::Array(_) => Self::ARRAY,
            Value::Object(_) => Self::OBJECT,
        }
    }

    pub(super) fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    pub(super) fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(super) fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub(super) fn within(self, other: Self) -> bool {
        self.0 & !other.0 == 0
    }

    /// Returns a set for each kind of value that keywords treat alike.
    pub(super) fn groups(self) -> impl Iterator<Item = Self> {
        let groups =
            [Self::NULL, Self::BOOLEAN, Self::NUMBER, Self::STRING, Self::ARRAY, Self::OBJECT];
        groups.into_iter().map(move |it| it.and(self)).filter(|it| !it.is_empty())
    }
}

impl std::fmt::Display for Types {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if *self == Self::ALL {
            return f.write_str("any value");
        }
        let mut left = *self;
        let mut first = true;
        for (name, bits) in NAMES {
            if Self(bits).within(left) {
                left = Self(left.0 & !bits);
                f.write_str(if first { "" } else { " or " })?;
                f.write_str(name)?;
                first = false;
            }
        }
        Ok(())
    }
}
