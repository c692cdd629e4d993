//! Whether a function with an attribute stands in a module, where it registers itself, or in an `impl` block, where the block does.
//!
//! The attribute sees no more than the function. What it expands to is a constant, which a module finds by its name and an `impl` block does not.
//! The names that are missing then come from an import with `*`.

/// Type of the constant that registers a function of a module.
#[derive(Clone, Copy, Debug)]
pub struct Registered;

/// Stands in for that constant in an `impl` block.
#[derive(Clone, Copy, Debug)]
pub struct Misplaced;

#[diagnostic::on_unimplemented(
    message = "an attribute on a function in an `impl` block needs `#[server]` on the block",
    label = "in an `impl` block that has no `#[server]`",
    note = "write `#[server]` above the `impl` block; a macro that writes such functions writes the block too"
)]
pub trait Placed {}

#[diagnostic::do_not_recommend]
impl Placed for Registered {}

/// Compiles where the constant has been found.
pub fn placed<T: Placed>(_: T) {}

/// What stands in for what an `impl` block does not find.
pub mod stand_in {
    #![allow(
        non_upper_case_globals,
        clippy::too_many_arguments,
        reason = "named and called like the user's functions that they stand for"
    )]

    use super::Misplaced;

    pub const __itself: Misplaced = Misplaced;
    pub const __identified: Misplaced = Misplaced;

    macro_rules! functions {
        ($($value:ident $future:ident ($($param:ident)*))*) => {$(
            pub mod $value {
                pub fn __function<$($param,)* R>($(_: $param),*) -> R {
                    unreachable!()
                }
            }
            pub mod $future {
                pub fn __function<$($param,)* R>($(_: $param),*) -> std::future::Ready<R> {
                    unreachable!()
                }
            }
        )*};
    }
    functions! {
        value0 future0 ()
        value1 future1 (A)
        value2 future2 (A B)
        value3 future3 (A B C)
        value4 future4 (A B C D)
        value5 future5 (A B C D E)
        value6 future6 (A B C D E F)
        value7 future7 (A B C D E F G)
        value8 future8 (A B C D E F G H)
        value9 future9 (A B C D E F G H I)
        value10 future10 (A B C D E F G H I J)
        value11 future11 (A B C D E F G H I J K)
        value12 future12 (A B C D E F G H I J K L)
        value13 future13 (A B C D E F G H I J K L M)
        value14 future14 (A B C D E F G H I J K L M N)
        value15 future15 (A B C D E F G H I J K L M N O)
        value16 future16 (A B C D E F G H I J K L M N O P)
    }
}
