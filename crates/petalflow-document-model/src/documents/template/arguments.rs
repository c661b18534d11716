//! The arguments of functions, as the text of a template has them.

use super::ast::Expr;
use super::functions::Function;
use super::printf;

/// Checks the arguments in a template. `piped` tells that another one is piped into the function, and whether it is a text
/// of the template. Returns whether the last of two arguments is meant to be the first: the text between the parts may come
/// first, as in `.list | join ", "`.
pub(super) fn check(
    function: Function,
    arguments: &[Expr],
    piped: Option<bool>,
) -> Result<bool, String> {
    let name = function.name();
    let count = arguments.len() + usize::from(piped.is_some());
    if !function.takes(count) {
        return Err(format!("`{name}` does not take {count} arguments"));
    }
    if let (Function::Printf, Some(Expr::Text(format))) = (function, arguments.first()) {
        printf::check(format, count - 1)?;
    }
    let is_text = |index: usize| match arguments.get(index) {
        Some(argument) => matches!(argument, Expr::Text(_)),
        None => piped == Some(true),
    };
    let has_parts = matches!(
        function,
        Function::Join
            | Function::Split
            | Function::Contains
            | Function::HasPrefix
            | Function::HasSuffix
    );
    Ok(has_parts && is_text(0) && !is_text(1))
}
