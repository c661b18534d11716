//! Tests of petalflow as its users see it: behaviour in `tests/`, compile errors in `ui/`.
