"""The rules of deny.toml, as far as they are used there: which versions, which licences, which advisories."""

import re
import tomllib
from collections import defaultdict
from pathlib import Path

NUMBERS = re.compile(r"(\d+)(?:\.(\d+))?(?:\.(\d+))?")


def numbers(version: str) -> tuple[int, ...]:
    """The three numbers of a version; a part that is not given is nothing."""
    found = NUMBERS.match(version.strip())
    if not found:
        raise ValueError(f"{version!r} is no version")
    return tuple(int(part or 0) for part in found.groups())


def meets(version: str, requirement: str) -> bool:
    """Whether a version meets a requirement such as `>=1.2, <2`, `^0.4` or `0.4`."""
    return all(meets_one(version, part.strip()) for part in requirement.split(",") if part.strip())


def meets_one(version: str, part: str) -> bool:
    if part == "*":
        return True
    sign, wanted = re.match(r"(<=|>=|[<>=~^]?)\s*(.*)", part).groups()
    ours, theirs = numbers(version), numbers(wanted)
    given = len([number for number in NUMBERS.match(wanted).groups() if number is not None])
    match sign:
        case "<":
            return ours < theirs
        case "<=":
            return ours <= theirs
        case ">":
            return ours > theirs
        case ">=":
            return ours >= theirs
        case "=":
            return ours[:given] == theirs[:given]
        case "~":
            return ours >= theirs and ours[:min(given, 2)] == theirs[:min(given, 2)]
    # As cargo means it: what changes the first number that is not 0 is another version.
    first = next((at for at, number in enumerate(theirs[:given]) if number), given - 1)
    return ours >= theirs and ours[:first + 1] == theirs[:first + 1]


def is_allowed(expression: str, allowed: set[str]) -> bool:
    """Whether an SPDX expression can be met by allowed licences. `/` is how one used to write OR."""
    words = re.findall(r"\(|\)|[^\s()/]+|/", expression.replace(" WITH ", "+"))
    at = 0

    def either() -> bool:
        nonlocal at
        met = both()
        while at < len(words) and words[at] in ("OR", "/"):
            at += 1
            met = both() or met
        return met

    def both() -> bool:
        nonlocal at
        met = one()
        while at < len(words) and words[at] == "AND":
            at += 1
            met = one() and met
        return met

    def one() -> bool:
        nonlocal at
        word = words[at]
        at += 1
        if word != "(":
            return word.replace("+", " WITH ") in allowed
        met = either()
        at += 1
        return met

    return either()


def duplicates(packages: list[dict], skips: list[dict]):
    """Crates that are there in two versions, and skips that nobody needs."""
    versions = defaultdict(set)
    for package in packages:
        versions[package["name"]].add(package["version"])
    needed = set()
    for name, there in sorted(versions.items()):
        known = [skip for skip in skips if skip["name"] == name]
        skipped = {version for version in there for skip in known if meets(version, skip["version"])}
        if len(there) > 1:
            needed.update(id(skip) for skip in known if any(meets(version, skip["version"]) for version in there))
        if len(there - skipped) > 1:
            yield f"{name} is there in several versions: {', '.join(sorted(there))}"
    for skip in skips:
        if id(skip) not in needed:
            yield f"{skip['name']} {skip['version']} is not there twice any more: take it from the list in deny.toml"


def advisories(packages: list[dict], database: Path, ignored: set[str]):
    """Advisories of a RustSec database that are about these packages: the id, the crate, and whether it is only
    told."""
    for package in packages:
        for path in sorted((database / "crates" / package["name"]).glob("*.md")):
            front = re.match(r"```toml\n(.*?)\n```", path.read_text(), re.S)
            if not front:
                continue
            told = tomllib.loads(front[1])
            about, versions = told["advisory"], told.get("versions", {})
            safe = [*versions.get("patched", []), *versions.get("unaffected", [])]
            is_over = about.get("withdrawn") or about["id"] in ignored
            if is_over or any(meets(package["version"], version) for version in safe):
                continue
            yield about["id"], f"{package['name']} {package['version']}", "informational" in about
