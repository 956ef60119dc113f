//! States that travel as streams.

mod broken;
mod collected;
mod golden;
mod handmade;
mod hostile;
mod journey;
mod limits;
mod random;
mod since;
mod steady;
pub(crate) mod travel;
mod unfit;
mod verified;
