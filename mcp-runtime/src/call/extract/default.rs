/// Types that `#[arg(default = "…")]` can make from its text.
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

/// Makes a default from a text. Generated code calls it.
pub fn from_text<T: FromText>(text: &'static str) -> T {
    T::from_text(text)
}

/// Types that `#[arg(default)]` applies to.
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

/// Makes the type's own default. Generated code calls it.
pub fn from_default<T: FromDefault>() -> T {
    T::from_default()
}
