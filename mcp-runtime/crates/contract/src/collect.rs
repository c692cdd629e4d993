//! Replacement for `collect` that fills ordered collections without a sort, to keep the code of servers small.

/// Collects items by inserting them one by one. For the ordered collections of the standard library, `collect` is compiled with a separate
/// sort for each type of iterator. Each of these sorts adds eight kilobytes of code, and a server loads some of this code at startup even
/// if it never sorts.
pub fn collect_by_insert<C: Default + Extend<T>, T>(items: impl IntoIterator<Item = T>) -> C {
    let mut all = C::default();
    all.extend(items);
    all
}
