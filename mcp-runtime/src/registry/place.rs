//! Finds out whether a function with an attribute is in a module or in an `impl` block. In a module it registers itself, in an `impl` block
//! the block registers it.
//!
//! The attribute sees only the function. It expands to a constant that refers to itself and to the function by name. A module has these
//! names in scope, an `impl` block does not. There, a glob import provides the stand-ins below.

/// Type of the constant that registers a function of a module.
#[derive(Clone, Copy, Debug)]
pub struct Registered;

/// Type of the stand-in for that constant in an `impl` block.
#[derive(Clone, Copy, Debug)]
pub struct Misplaced;

#[diagnostic::on_unimplemented(
    message = "an attribute on a function in an `impl` block needs `#[handlers]` on the block",
    label = "in an `impl` block that has no `#[handlers]`",
    note = "write `#[handlers]` (`#[server]` until 0.1) above the `impl` block; a macro that writes such functions writes the block too"
)]
pub trait Placed {}

#[diagnostic::do_not_recommend]
impl Placed for Registered {}

/// Compiles if the constant was found.
pub fn placed<T: Placed>(_: T) {}

/// Stand-ins for the names that an `impl` block does not have in scope.
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
