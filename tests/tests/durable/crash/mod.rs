//! Flows that crash wherever they can, and go on as if they had not.

mod effects;
mod gates;
mod mended;
mod people;
mod reducers;
mod shapes;
