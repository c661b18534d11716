//! Confirmation of calls by a person.

use std::fmt;
use std::marker::PhantomData;

/// The result types of the function in `confirm = path`.
#[diagnostic::on_unimplemented(
    message = "a `{Self}` does not say whether a person must agree",
    label = "returns neither `bool` nor an `Option` of a text",
    note = "return `true` where they must, or `Some(..)` with what they are told"
)]
pub trait ToolConfirm {
    /// The question for the person, if one must agree.
    fn question(self, tool: &str) -> Option<String>;
}

impl ToolConfirm for bool {
    fn question(self, tool: &str) -> Option<String> {
        self.then(|| question(tool))
    }
}

impl ToolConfirm for Option<String> {
    fn question(self, _: &str) -> Option<String> {
        self
    }
}

impl ToolConfirm for Option<&str> {
    fn question(self, _: &str) -> Option<String> {
        self.map(Into::into)
    }
}

/// The default question.
pub fn question(tool: &str) -> String {
    format!("the tool `{tool}` needs your approval")
}

/// The function in `confirm = path` and the types of the tool's arguments, for a check of generated code.
///
/// The check finds the one mistake that is worth words: a function that takes the arguments by value. It accepts everything
/// else, because a call accepts more than a bound can say: `&str` for a `String`, a slice, `&dyn Trait`. Of the three methods
/// with one name, the compiler takes the first whose conditions hold: that of the receiver with the most references.
pub struct ConfirmFunction<'x, F, A>(PhantomData<&'x ()>, PhantomData<fn(F, A)>);

impl<F, A> ConfirmFunction<'_, F, A> {
    /// The function, whose type is inferred.
    pub const fn of(_: &F) -> Self {
        ConfirmFunction(PhantomData, PhantomData)
    }
}

impl<F, A> fmt::Debug for ConfirmFunction<'_, F, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ConfirmFunction")
    }
}

/// No function has it.
#[diagnostic::on_unimplemented(
    message = "the function in `confirm` takes the arguments of the tool by value",
    label = "must take them by reference",
    note = "write `&` before the type of each of its parameters: the tool itself gets the values"
)]
pub trait TakesReferences {}

/// A function that takes all arguments by reference.
pub trait ConfirmByReference {
    /// Nothing is wrong.
    fn check(&self) {}
}

/// A function that takes all arguments by value.
pub trait ConfirmByValue {
    /// The function.
    type Function;

    /// Fails to compile.
    fn check(&self)
    where
        Self::Function: TakesReferences,
    {
    }
}

/// Any other function. Its call says what is wrong.
pub trait ConfirmOtherwise {
    /// Nothing is wrong, as far as is known.
    fn check(&self) {}
}

impl<F, A> ConfirmOtherwise for ConfirmFunction<'_, F, A> {}

macro_rules! functions {
    ($($arguments:ident)*) => {
        impl<'x, Function, Returned, $($arguments: 'x),*> ConfirmByReference
            for &&ConfirmFunction<'x, Function, ($($arguments,)*)>
        where
            Function: Fn($(&'x $arguments),*) -> Returned,
        {
        }

        impl<Function, Returned, $($arguments),*> ConfirmByValue
            for &ConfirmFunction<'_, Function, ($($arguments,)*)>
        where
            Function: Fn($($arguments),*) -> Returned,
        {
            type Function = Function;
        }
    };
}

functions!(A);
functions!(A B);
functions!(A B C);
functions!(A B C D);
functions!(A B C D E);
functions!(A B C D E G);
functions!(A B C D E G H);
functions!(A B C D E G H I);
