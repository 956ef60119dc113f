"""Figures: lines that begin with SCORE, in what tests and steps said, and what they add up to."""

import re
import xml.etree.ElementTree as xml
from collections import defaultdict
from pathlib import Path

SCORE = re.compile(r"SCORE (\S+)((?: \S+=\d+)+)")
# A row of the table that fuzz/run prints: target, executions, speed, edges, new, crashes.
FUZZED = re.compile(r"^([a-z_]+) +(\d+) +\d+ +\d+ +\d+  (.+)$", re.M)
# Of these the largest counts; everything else is added up.
LARGEST = re.compile(r"_(mib|ms|us|each)$|^(descriptors|kib_each)$")


class Figures:
    """What is known of a run."""

    def __init__(self):
        self.of_line: dict[str, dict[str, int]] = defaultdict(dict)
        # Rust tests by package and name, and whether they passed.
        self.tests: dict[tuple[str, str], bool] = {}

    def add(self, line: str, name: str, value: int) -> None:
        known = self.of_line[line]
        before = known.get(name, 0)
        known[name] = max(before, value) if LARGEST.search(name) else before + value

    def read_text(self, text: str) -> None:
        for line, told in SCORE.findall(text):
            for figure in told.split():
                name, value = figure.split("=")
                self.add(line, name, int(value))
        for _, executions, crash in FUZZED.findall(text):
            self.add("S12", "attempts", int(executions))
            self.add("S12", "crashes", int(crash != "none"))

    def read_tests(self, path: Path) -> None:
        """Takes a report of nextest, in JUnit's format."""
        for suite in xml.parse(path).getroot().iter("testsuite"):
            package = suite.get("name", "").split("::")[0]
            for case in suite.iter("testcase"):
                failed = case.find("failure") is not None or case.find("error") is not None
                self.tests[package, case.get("name", "")] = not failed
                for output in [*case.iter("system-out"), *case.iter("system-err")]:
                    self.read_text(output.text or "")

    def read(self, place: Path) -> None:
        """Takes every report and log of a directory."""
        for path in sorted(place.iterdir()):
            if path.suffix == ".xml":
                self.read_tests(path)
            elif path.is_file():
                self.read_text(path.read_text(errors="replace"))
