"""The lines of the scoreboard: what is attacked, by which tests, and what must come of it.

S1 to S17 are the lines that the project set itself; there is no S3. The others are named.
"""

from dataclasses import dataclass, field

# What may never happen, by the name that tests give it.
HARMS = ["escapes", "torn", "lost", "hung", "5xx"]


@dataclass(frozen=True)
class Line:
    name: str
    what: str
    # Rust tests: a package, and a regular expression that their names match.
    tests: list[tuple[str, str]] = field(default_factory=list)
    # How many attempts there must be in the short form and in the long one.
    least: tuple[int, int] = (1, 1)
    # The harms that must be told, and told to be none.
    none_of: list[str] = field(default_factory=list)
    # Figures that must be told, and may not be larger.
    most: dict[str, int] = field(default_factory=dict)
    # A step that is no Rust test; its output holds the figures.
    step: str | None = None
    # Whether CI leaves it out.
    slow: bool = False

    @property
    def target(self) -> str:
        none = [f"no {harm}" for harm in self.none_of]
        return ", ".join(none + [f"{name} ≤ {most:,}" for name, most in self.most.items()])


CLI, HOST, SERVER, FLEET = "sandkeep-cli", "sandkeep-host", "sandkeep-server", "sandkeep-fleet"

LINES = [
    Line("S1", "swap races over HTTP", [(CLI, "^race::")], (5_000, 1_000_000), ["escapes", "hung", "5xx"]),
    Line("S2", "swap races and rename storms on host", [(HOST, "^(races|storms|parts)::")],
         (10_000, 10_000_000), ["escapes"]),
    Line("S4", "random hostile archives", [(CLI, "^random_archive::")], (300, 20_000), ["escapes", "hung", "5xx"]),
    Line("S5", "kill -9", [(CLI, "^crash::")], (45, 600), ["torn", "lost"]),
    Line("S6", "power cuts on ext4 and xfs", [(CLI, "^power::")], (8, 150), ["torn", "lost"]),
    Line("S7", "every system call fails once, or does half", [(CLI, "^(injected|halves)::")], (300, 1_000),
         ["torn", "lost"]),
    Line("S8", "memory under load", [(CLI, "^memory::")], (5, 5), most={"peak_mib": 48}),
    Line("S9", "500 busy clients beside 300 slow ones", [(CLI, "^crowds::five_hundred")], (500, 500), ["5xx"],
         {"p99_alone_us": 100_000}),
    Line("S10", "slow and silent clients", [(CLI, "^crowds::clients_that")], (1_000, 6_000), ["hung"],
         {"gone_ms": 30_000, "slowest_ms": 3_000}),
    Line("S11", "files and mounts that block", [(CLI, "^blocking::")], (1_000, 1_000), ["hung", "5xx"]),
    Line("S12", "fuzzing", least=(1_000_000, 50_000_000), none_of=["crashes"], step="fuzz"),
    Line("S13", "requests invented from the description", least=(2_000, 10_000), none_of=["failures"],
         step="schemathesis"),
    Line("S14", "every operation for every role", [(SERVER, "^roles::")], (800, 800), ["escapes"]),
    Line("S15", "stores killed, restarted and cut off", [(FLEET, "_(plain|servers_killed|database_restarted|bad_line)$")], (20, 200), ["lost"]),
    Line("S16", "dependencies, licences, unsafe code", least=(100, 100), none_of=["violations", "unsafe"],
         step="dependencies"),
    Line("S17", "broken variants of host are caught", least=(25, 25), none_of=["survivors"], step="mutants", slow=True),
    Line("spelled-paths", "500 spellings of .. on every route", [(SERVER, "^tricks::no_spelling")],
         (10_000, 10_000), ["escapes", "5xx"]),
    Line("hard-links", "names of files outside, and races of them",
         [(CLI, "^(hard_links|race::a_file_swapped_for_another_name)"), (HOST, "^second_names::")],
         (10_000, 1_000_000), ["escapes"]),
    Line("sparse-files", "files of a TiB and of 8 EiB", [(CLI, "^sparse::")], (30, 30), ["hung"], {"peak_mib": 48}),
    Line("deep-trees", "15,000 levels", [(CLI, "^deep::a_tree")], (5, 5), ["hung", "5xx"], {"descriptors": 100}),
    Line("wide-trees", "many entries in a directory", [(CLI, "^deep::a_directory")], (100_000, 1_000_000),
         ["hung", "5xx"]),
    Line("odd-names", "names of every kind", [(CLI, "^names::")], (1_500, 15_000), ["escapes", "lost", "5xx"]),
    Line("idle-connections", "clients that want nothing", [(CLI, "^crowds::idle")], (2_000, 10_000), ["lost"],
         {"kib_each": 48}),
    Line("lying-bodies", "lengths that are not true", [(CLI, "^lies::")], (250, 5_000), ["torn", "5xx"]),
    Line("bombs", "archives that unfold", [(CLI, "^bombs::")], (100, 100), ["hung", "5xx"], {"peak_mib": 64}),
    Line("header-floods", "heads and requests without end", [(CLI, "^floods::")], (500, 500), ["hung", "5xx"],
         {"peak_mib": 48}),
    Line("clock-jumps", "wrong clocks, impossible times", [(CLI, "^clock::")], (500, 20_000), ["lost", "5xx"]),
    Line("full-disks", "no room for a change", [(CLI, "^faults::a_(full|disk_without_a_byte|store)")], (20, 20),
         ["torn", "lost"]),
    Line("read-only-disks", "no right to change", [(CLI, "^faults::a_(read_only|root)")], (30, 30), ["torn", "lost"]),
]
