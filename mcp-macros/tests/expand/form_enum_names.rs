#[form(enum_names, crate = ::facade)]
enum Old {
    #[arg(title = TITLE)]
    One,
}
