#[data(crate = ::facade)]
enum Kind {
    A,
}
