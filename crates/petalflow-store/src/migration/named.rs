//! A small map from names.

/// A map from names to values, in the order of the names: a sorted list, because names are few and arrive nearly in order. A
/// `BTreeMap` compiles to forty times as much code, for each type in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named<T>(Vec<(String, T)>);

impl<T> Default for Named<T> {
    fn default() -> Self {
        Named(Vec::new())
    }
}

impl<T> Named<T> {
    fn index(&self, name: &str) -> Result<usize, usize> {
        self.0
            .binary_search_by(|(known, _)| known.as_str().cmp(name))
    }

    pub fn get(&self, name: &str) -> Option<&T> {
        let index = self.index(name).ok()?;
        self.0.get(index).map(|(_, value)| value)
    }

    pub fn get_mut(&mut self, name: &str) -> Option<&mut T> {
        let index = self.index(name).ok()?;
        self.0.get_mut(index).map(|(_, value)| value)
    }

    /// The value of a name. If there is none, `new` is inserted.
    pub fn get_or(&mut self, name: &str, new: impl FnOnce() -> T) -> &mut T {
        let index = self.index(name).unwrap_or_else(|index| {
            self.0.insert(index, (name.into(), new()));
            index
        });
        &mut self.0[index].1
    }

    /// Inserts a value, or replaces the one with this name.
    pub fn insert(&mut self, name: String, value: T) {
        match self.index(&name) {
            Ok(index) => self.0[index].1 = value,
            Err(index) => self.0.insert(index, (name, value)),
        }
    }

    pub fn remove(&mut self, name: &str) -> Option<T> {
        let index = self.index(name).ok()?;
        Some(self.0.remove(index).1)
    }

    pub fn iter(&self) -> impl Iterator<Item = (&String, &T)> {
        self.0.iter().map(|(name, value)| (name, value))
    }

    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.0.iter_mut().map(|(_, value)| value)
    }
}

impl<T> IntoIterator for Named<T> {
    type Item = (String, T);
    type IntoIter = std::vec::IntoIter<(String, T)>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

/// Of several values with one name, the last remains.
impl<T> FromIterator<(String, T)> for Named<T> {
    fn from_iter<I: IntoIterator<Item = (String, T)>>(entries: I) -> Self {
        let mut named = Named::default();
        for (name, value) in entries {
            named.insert(name, value);
        }
        named
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_and_sorted() {
        let entries = [("b", 1), ("a", 2), ("c", 3), ("a", 4)];
        let mut named: Named<u8> = entries
            .map(|(name, n)| (name.into(), n))
            .into_iter()
            .collect();
        assert_eq!(named.get("a"), Some(&4));
        assert_eq!(named.get("d"), None);
        assert_eq!(*named.get_or("d", || 5), 5);
        *named.get_or("d", || 6) += 1;
        named.values_mut().for_each(|n| *n *= 10);
        assert_eq!(named.remove("b"), Some(10));
        assert_eq!(named.remove("b"), None);
        if let Some(n) = named.get_mut("c") {
            *n = 7;
        }
        let all: Vec<_> = named.iter().map(|(name, n)| (&**name, *n)).collect();
        assert_eq!(all, [("a", 40), ("c", 7), ("d", 60)]);
    }
}
