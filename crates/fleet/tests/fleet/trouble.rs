//! What happens to a fleet while it works.

use std::fmt;
use std::thread;
use std::time::{Duration, Instant};

use rand::RngExt as _;
use rand::seq::IndexedRandom as _;
use sandkeep_fleet::{Crew, PROCESSES};
use servers::{Proxy, Server};

/// A kind of trouble.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// None.
    None,
    /// Server processes are killed, and others start in their place.
    ServersKilled,
    /// The database is stopped, in order or not, and started again.
    DatabaseRestarted,
    /// Between the servers and the database all is slow, and connections break.
    BadLine,
}

impl Trouble {
    pub(crate) const ALL: [Self; 4] =
        [Self::None, Self::ServersKilled, Self::DatabaseRestarted, Self::BadLine];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::None => "plain",
            Self::ServersKilled => "servers_killed",
            Self::DatabaseRestarted => "database_restarted",
            Self::BadLine => "bad_line",
        }
    }

    /// Makes trouble as long as the fleet works, and says what it made.
    pub(crate) fn make(self, crew: &mut Crew, server: &mut Server, line: &mut Line) -> Made {
        let mut made = Made::default();
        let mut dice = rand::rng();
        while crew.works() {
            let pause = Duration::from_millis(dice.random_range(1000..2000));
            wait(crew, pause);
            match self {
                _ if !crew.works() => break,
                Self::None => {}
                Self::ServersKilled => crew.kill_one(),
                Self::DatabaseRestarted => made.restart(server),
                Self::BadLine => made.cuts += u32::from(line.cut_one()),
            }
        }
        line.heal();
        made
    }
}

/// Waits for a while, or until the work is over.
fn wait(crew: &Crew, pause: Duration) {
    let begin = Instant::now();
    while crew.works() && begin.elapsed() < pause {
        thread::sleep(Duration::from_millis(20));
    }
}

/// The trouble that was made.
#[derive(Debug, Default)]
pub(crate) struct Made {
    killed: u32,
    stopped: u32,
    /// The longest time from its end until it answered again.
    away: Duration,
    /// How often all connections of a process were cut, besides those that broke by chance.
    cuts: u32,
}

impl Made {
    /// How often something was made to go wrong on purpose.
    pub(crate) fn episodes(&self) -> u32 {
        self.killed + self.stopped + self.cuts
    }

    /// Restarts a database, in turn as a crash would and in order.
    fn restart(&mut self, server: &mut Server) {
        let begin = Instant::now();
        if self.killed <= self.stopped {
            server.restart();
            self.killed += 1;
        } else {
            server.restart_politely();
            self.stopped += 1;
        }
        self.away = self.away.max(begin.elapsed());
    }
}

impl fmt::Display for Made {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { killed, stopped, away, cuts } = self;
        write!(
            f,
            "database killed {killed} and stopped {stopped} times, away for {away:.1?} at most, "
        )?;
        write!(f, "all connections of a process cut {cuts} times")
    }
}

/// The way from the processes to the database: each has a proxy of its own, or none has one.
pub(crate) struct Line {
    proxies: Vec<Proxy>,
}

impl Line {
    pub(crate) fn to(server: &Server, trouble: Trouble) -> Self {
        let proxies = match trouble {
            Trouble::BadLine => (0..PROCESSES).map(|_| Self::bad(server)).collect(),
            Trouble::None | Trouble::ServersKilled | Trouble::DatabaseRestarted => Vec::new(),
        };
        Self { proxies }
    }

    /// On this way all is slow, and connections break.
    fn bad(server: &Server) -> Proxy {
        let proxy = Proxy::to(server.address());
        proxy.set(servers::Trouble {
            delay: Duration::from_millis(4),
            cut: 0.005,
            refuse: 0.1,
            stall: 0.005,
            stall_time: Duration::from_millis(300),
        });
        proxy
    }

    /// How each process reaches the store.
    pub(crate) fn urls(&self, server: &Server) -> [String; PROCESSES] {
        std::array::from_fn(|process| {
            let proxy = self.proxies.get(process).map(Proxy::address);
            server.url_via(proxy.unwrap_or_else(|| server.address()), "fleet")
        })
    }

    /// Cuts all connections of one process.
    fn cut_one(&mut self) -> bool {
        let proxy = self.proxies.choose(&mut rand::rng());
        proxy.inspect(|proxy| proxy.cut_all()).is_some()
    }

    /// From now on all is well, so that what is under way comes to its end.
    fn heal(&mut self) {
        self.proxies.iter().for_each(|proxy| proxy.set(servers::Trouble::default()));
    }
}
