//! An arena. fn not_this() {}
use std::fmt;

pub const LIMIT: usize = 1024;
static mut COUNT: u32 = 0;

pub type Result<T> = std::result::Result<T, Error>;

#[derive(Debug, Clone)]
pub struct Arena<'a, T: 'a> {
    items: Vec<T>,
    name: &'a str,
}

pub enum Error {
    Full,
    Missing { index: usize },
}

pub trait Shape: fmt::Debug {
    const SIDES: u32;
    type Unit;
    fn area(&self) -> f64;
    fn double(&self) -> f64 {
        self.area() * 2.0
    }
}

impl<'a, T> Arena<'a, T> {
    pub fn new(name: &'a str) -> Self {
        fn nested() {}
        Arena { items: Vec::new(), name }
    }

    #[inline]
    pub async unsafe fn get(
        &self,
        index: usize,
    ) -> Result<&T>
    where
        T: Clone,
    {
        let text = r#"fn hidden() { "#;
        Ok(&self.items[index])
    }
}

impl<T> fmt::Display for Arena<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", '{')
    }
}

macro_rules! arena {
    ($($x:expr),*) => { fn macro_hidden() {} };
}

union Bits {
    int: u32,
    float: f32,
}

extern "C" {
    fn abs(value: i32) -> i32;
}

pub fn main() {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_empty() {}
}
