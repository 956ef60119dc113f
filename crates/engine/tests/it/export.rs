//! States that travel as streams.

mod broken;
mod golden;
mod handmade;
mod hostile;
mod journey;
mod limits;
mod random;
mod since;
mod travel;
mod unfit;
