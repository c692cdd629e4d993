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
