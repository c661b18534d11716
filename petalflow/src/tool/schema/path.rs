//! Where a part of a value is.

use std::fmt;

/// The place of a part of a value, from the outside. It is written when there is a mistake.
#[derive(Clone, Copy)]
pub(super) enum Path<'p> {
    Root,
    Field(&'p Path<'p>, &'p str),
    Item(&'p Path<'p>, usize),
}

impl Path<'_> {
    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Path::Root => Ok(()),
            Path::Field(Path::Root, name) => f.write_str(name),
            Path::Field(outer, name) => {
                outer.write(f)?;
                write!(f, ".{name}")
            }
            Path::Item(outer, index) => {
                outer.write(f)?;
                write!(f, "[{index}]")
            }
        }
    }
}

/// `` `points[1].x` ``, or words for the whole value.
impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Path::Root = self {
            return f.write_str("the value");
        }
        f.write_str("`")?;
        self.write(f)?;
        f.write_str("`")
    }
}
