//! Collections that are put together one by one.

/// Like `collect`, which for what the standard library keeps in order is compiled with a sort of its own for each kind of iterator: eight
/// kilobytes each, of which a server that never runs them has to read some when it starts.
pub(crate) fn gathered<C: Default + Extend<T>, T>(items: impl IntoIterator<Item = T>) -> C {
    let mut all = C::default();
    all.extend(items);
    all
}
