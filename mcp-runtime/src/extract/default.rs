/// What `#[arg(default = "…")]` can make from its text.
#[diagnostic::on_unimplemented(
    message = "a text cannot be the default of type `{Self}`",
    label = "not made from a text",
    note = "the default is any expression of that type: `default = 1`, `default = Color::Red`, `default = vec![]`"
)]
pub trait FromText {
    fn from_text(text: &'static str) -> Self;
}

#[diagnostic::do_not_recommend]
impl<T: From<&'static str>> FromText for T {
    fn from_text(text: &'static str) -> Self {
        text.into()
    }
}

/// What generated code calls for a default that is a text.
pub fn from_text<T: FromText>(text: &'static str) -> T {
    T::from_text(text)
}

/// What `#[arg(default)]` needs of a type.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no default of its own",
    label = "there is no `Default` for it",
    note = "write the default, as in `#[arg(default = Color::Red)]`, or `#[derive(Default)]` on the type"
)]
pub trait FromDefault {
    fn from_default() -> Self;
}

#[diagnostic::do_not_recommend]
impl<T: Default> FromDefault for T {
    fn from_default() -> Self {
        T::default()
    }
}

/// What generated code calls for a default that is the type's own.
pub fn from_default<T: FromDefault>() -> T {
    T::from_default()
}
