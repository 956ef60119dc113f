//! The sandkeep command.
fn main() {}
