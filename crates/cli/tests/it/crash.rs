//! The server is killed in the middle of its work, again and again.

use std::sync::atomic::AtomicBool;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use crate::attack_form::short_or_long;
use crate::dice::Dice;
use crate::ledger::Ledger;
use crate::mounted::Mounted;
use crate::outside::Premises;
use crate::score::score;
use crate::server_process::ServerProcess;
use crate::traffic::Lane;

#[test]
fn a_killed_server_loses_and_tears_nothing() {
    let premises = Premises::new(&[]);
    let staging = premises.staging();
    kill_again_and_again(&premises, &["--staging", staging.to_str().unwrap()]);
}

#[test]
fn a_killed_server_without_a_staging_directory_loses_and_tears_nothing() {
    let premises = Premises::new(&[]);
    let Some(_alone) = Mounted::alone(&premises.root()) else { return };
    kill_again_and_again(&premises, &[]);
}

#[test]
fn a_killed_server_of_a_store_loses_and_tears_nothing_and_is_back_within_a_second() {
    let place = tempfile::tempdir().unwrap();
    let url = format!("file:{}", place.path().join("store").display());
    let cycles = short_or_long(15, 200);
    let lanes: Vec<_> = (0..4).map(Lane::new).collect();
    let mut dice = Dice::new(3);
    let (mut acknowledged, mut starts, mut work) = (0, Vec::new(), Vec::new());
    let mut server = ServerProcess::of_store(&url, &[]);
    for cycle in 0..cycles {
        run_until_killed(server, &lanes, &mut dice);
        let killed = Instant::now();
        server = ServerProcess::of_store(&url, &[]);
        starts.push(killed.elapsed());
        work.push(server.processor_time());
        for lane in &lanes {
            let mut ledger = lane.ledger.lock().unwrap();
            let found =
                lane.found_on(&mut server.connect()).unwrap_or_else(|torn| panic!("{torn}"));
            if let Err(difference) = ledger.explains_whole(&found) {
                panic!("cycle {cycle} lost something: {difference}");
            }
            acknowledged += ledger.acknowledged();
            *ledger = Ledger::from(found);
        }
    }
    starts.sort();
    let (median, slowest) = (starts[starts.len() / 2], starts[starts.len() - 1]);
    let work = work.into_iter().max().unwrap();
    eprintln!(
        "kill -9 on a store: {cycles} cycles, {acknowledged} changes acknowledged, 0 lost, 0 half \
         done; back in {median:.0?}, at most {slowest:.0?}, of which at most {work:?} at work"
    );
    tell(cycles, acknowledged);
    // How long others keep the machine from the work is not the server's doing.
    assert!(work < Duration::from_secs(1) && starts[0] < Duration::from_secs(1), "{starts:?}");
}

fn kill_again_and_again(premises: &Premises, flags: &[&str]) {
    let cycles = short_or_long(15, 200);
    let lanes: Vec<_> = (0..4).map(Lane::new).collect();
    let mut dice = Dice::new(9);
    let mut acknowledged = 0;
    let mut swept = 0;
    for cycle in 0..cycles {
        run_until_killed(start(premises, flags), &lanes, &mut dice);
        swept += premises.unfinished().len();
        let server = start(premises, flags);
        premises.becomes_clean();
        drop(server);
        for lane in &lanes {
            let mut ledger = lane.ledger.lock().unwrap();
            let found = lane.found(&premises.root()).unwrap_or_else(|torn| panic!("{torn}"));
            if let Err(difference) = ledger.explains(ledger.acknowledged(), &found) {
                panic!("cycle {cycle} lost something: {difference}");
            }
            acknowledged += ledger.acknowledged();
            *ledger = Ledger::from(found);
        }
    }
    eprintln!(
        "kill -9: {cycles} cycles, {acknowledged} changes acknowledged, 0 lost, 0 torn; \
         {swept} unfinished files swept, 0 left"
    );
    tell(cycles, acknowledged);
}

/// Whatever was lost or torn has ended the test by now.
fn tell(cycles: usize, acknowledged: usize) {
    let figures = [("acknowledged", acknowledged as u64), ("torn", 0), ("lost", 0)];
    score("S5", &[&[("attempts", cycles as u64)], &figures[..]].concat());
    assert!(acknowledged > cycles * 10, "too little was under way: {acknowledged}");
}

/// Kills the server some moments after a random number of acknowledgements.
fn run_until_killed(server: ServerProcess, lanes: &[Lane], dice: &mut Dice) {
    let never = AtomicBool::new(false);
    let (sender, acknowledgements) = mpsc::channel();
    thread::scope(|scope| {
        for lane in lanes {
            let (connection, dice, sender) =
                (server.connect(), Dice::new(dice.roll()), sender.clone());
            let never = &never;
            scope.spawn(move || lane.drive(connection, dice, never, &sender));
        }
        let until = 20 + dice.below(100);
        for _ in 0..until {
            acknowledgements.recv_timeout(Duration::from_secs(60)).expect("the server works");
        }
        // No event marks the middle of a write: the moment of death is what is random here.
        thread::sleep(Duration::from_micros(dice.below(4000)));
        server.kill();
    });
}

fn start(premises: &Premises, flags: &[&str]) -> ServerProcess {
    ServerProcess::start(&premises.root(), &[&["--durability", "full"], flags].concat())
}
