//! What one execution of a template may use. Templates may come from a document, and have loops.

/// The steps: actions, values and items.
const STEPS: u64 = 1_000_000;

/// The largest text that a template may make, in bytes.
pub(super) const OUTPUT: usize = 16 << 20;

/// The most bytes that the functions may make.
const MADE: usize = 64 << 20;

/// The most bytes that the functions may read.
const READ: usize = 1 << 30;

/// The most blocks and calls of templates in each other.
const LEVELS: usize = 100;

/// What is used. The steps alone are no limit: one step can make or read a long text, and `{{$x = print $x $x}}` doubles it.
#[derive(Debug, Default)]
pub(super) struct Limits {
    steps: u64,
    made: usize,
    read: usize,
    levels: usize,
}

impl Limits {
    pub(super) fn step(&mut self) -> Result<(), String> {
        self.steps += 1;
        if self.steps > STEPS {
            return Err(format!("the template takes more than {STEPS} steps"));
        }
        Ok(())
    }

    /// Counts bytes that a function makes.
    pub(super) fn make(&mut self, bytes: usize) -> Result<(), String> {
        self.made = self.made.saturating_add(bytes);
        self.fits(0)
    }

    /// Whether a function may make this many bytes more.
    pub(super) fn fits(&self, bytes: usize) -> Result<(), String> {
        if self.made.saturating_add(bytes) > MADE {
            return Err(format!("its functions make more than {MADE} bytes"));
        }
        Ok(())
    }

    /// Counts bytes that a function reads.
    pub(super) fn read(&mut self, bytes: usize) -> Result<(), String> {
        self.read = self.read.saturating_add(bytes);
        if self.read > READ {
            return Err(format!("its functions read more than {READ} bytes"));
        }
        Ok(())
    }

    pub(super) fn enter(&mut self) -> Result<(), String> {
        self.levels += 1;
        if self.levels > LEVELS {
            return Err(format!(
                "more than {LEVELS} blocks and templates in each other"
            ));
        }
        Ok(())
    }

    pub(super) fn leave(&mut self) {
        self.levels -= 1;
    }
}
