//! The output schema of a tool, computed in constants.

use super::{Json, WithMeta};
use crate::{
    call::extract::Probe,
    schema::constant::{MOST, Node, Out, Schema, Top, dot_before, panic_with, write_root},
};

/// Output schema of a result's type, as far as the compiler knows it.
#[derive(Clone, Copy, Debug)]
pub struct ConstantOutput(Option<Node>);

impl ConstantOutput {
    const fn of(node: Node) -> Self {
        Self(Some(node))
    }

    /// Returns whether every result is an object, which the root of the schema then says.
    pub const fn is_object(&self) -> bool {
        match &self.0 {
            Some(node) => node.is_json_object(),
            None => false,
        }
    }

    /// Returns the length of the schema text. It is 0 if there is no schema, if the schema is not known at compile time, or if its text
    /// is longer than `MOST`.
    pub const fn len(&self) -> usize {
        let mut out = Out::counting();
        self.write(&mut out);
        if out.len() > MOST { 0 } else { out.len() }
    }

    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the schema text, whose length is `N`.
    pub const fn render<const N: usize>(&self) -> [u8; N] {
        let mut text = [0; N];
        if N > 0 {
            self.write(&mut Out::new(&mut text));
        }
        text
    }

    /// Implements `schema = "static"`: fails to compile if the result has a schema that the compiler cannot write.
    #[must_use]
    #[track_caller]
    pub const fn demanded(self, has_schema: bool) -> Self {
        if has_schema && self.is_empty() {
            let [first, second, third] = match &self.0 {
                Some(node) => node.unknown_path(),
                None => [""; 3],
            };
            panic_with(&[
                "the compiler does not know the schema of ",
                if first.is_empty() { "" } else { "`" },
                first,
                dot_before(second),
                second,
                dot_before(third),
                third,
                if first.is_empty() { "" } else { "` in " },
                "the result: put `#[data]` on its type and on those in it, without attributes of schemars, or remove `schema = \"static\"`; of types of other crates, and of those that contain themselves, only schemars knows",
            ]);
        }
        self
    }

    const fn write(&self, out: &mut Out<'_>) {
        if let Some(node) = &self.0
            && node.is_constant()
        {
            write_root(out, node);
        }
    }
}

macro_rules! outputs {
    ($($ty:ty $(, or $e:ident)?;)*) => {$(
        impl<T: Schema<Top> $(, $e)?> Probe<$ty> {
            pub const OUTPUT: ConstantOutput = ConstantOutput::of(T::NODE);
        }

        impl<T $(, $e)?> Probe<$ty> {
            /// Whether there is an output schema, written by the compiler or by schemars.
            pub const HAS_OUTPUT: bool = true;
        }
    )*};
}
outputs! {
    Json<T>;
    WithMeta<Json<T>>;
    Result<Json<T>, E>, or E;
    Result<WithMeta<Json<T>>, E>, or E;
}

/// Fallback for every other type of result.
pub trait UnknownOutput {
    const OUTPUT: ConstantOutput = ConstantOutput(None);
    const HAS_OUTPUT: bool = false;
}
impl<T: ?Sized> UnknownOutput for Probe<T> {}
