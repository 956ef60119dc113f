"""Lets schemathesis invent requests from /openapi.json and judge the answers of a real server.

Run with a system Python; what it needs is put into a virtual environment beneath target/.
Usage: run.py [--long]     SANDKEEP_BIN names the program, target/debug/sandkeep without it.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

HERE = Path(__file__).resolve().parent
TARGET = HERE.parent.parent / "target"
TOKEN = "the-token-of-this-test"

# What an answer must be: no 5xx, a status, type, headers and body that the document names, 401
# without the token, 405 with an Allow header for a method that is not there. Left out are the
# guesses that do not hold for a file server, where a path that nobody made may be any string:
# that every well-formed request succeeds, and that every malformed one fails.
CHECKS = [
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
    "unsupported_method",
    "allow_header_conformance",
    "ignored_auth",
]


# What a sandbox answers that is as full as whoever made it said it may be, and a tool that was given
# a millisecond. Neither is a fault of the server, and the document names both.
SETTINGS = """
[checks.not_a_server_error]
expected-statuses = ["2xx", "3xx", "4xx", "504", "507"]
"""


def main() -> int:
    long = "--long" in sys.argv[1:]
    schemathesis = install()
    with tempfile.TemporaryDirectory(prefix="sandkeep-schemathesis-") as place:
        root = Path(place) / "root"
        root.mkdir()
        furnish(root)
        (Path(place) / "schemathesis.toml").write_text(SETTINGS)
        server, url = serve(root)
        try:
            code = explore(schemathesis, url, 1200 if long else 75, cwd=place)
            if server.poll() is not None:
                print(f"the server ended by itself with {server.returncode}")
                return 1
            return code
        finally:
            server.terminate()
            server.wait(30)


def install() -> Path:
    """The pinned tool in an environment of its own."""
    place = TARGET / "schemathesis"
    program = place / "bin" / "schemathesis"
    pins = (HERE / "requirements.txt").read_text()
    installed = place / "requirements.txt"
    if not installed.exists() or installed.read_text() != pins:
        venv.create(place, with_pip=True, clear=True)
        pip = [place / "bin" / "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, "-r", HERE / "requirements.txt"], check=True)
        installed.write_text(pins)
    return program


def furnish(root: Path) -> None:
    """A few files under names that a generator tries early."""
    (root / "dir").mkdir()
    for name in ["a", "0", "file.txt", "dir/file"]:
        (root / name).write_text(name)


def serve(root: Path) -> tuple[subprocess.Popen, str]:
    binary = os.environ.get("SANDKEEP_BIN", TARGET / "debug" / "sandkeep")
    flags = ["--port", "0", "--token", TOKEN, "--root-prefix", "/", "--json"]
    command = [binary, "serve", root, *flags]
    environment = {**os.environ, "SANDKEEP_LOG": "error"}
    server = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
    return server, json.loads(server.stdout.readline())["url"].rstrip("/")


def explore(program: Path, url: str, seconds: int, cwd: str) -> int:
    command = [
        program, "run", f"{url}/openapi.json",
        "--header", f"Authorization: Bearer {TOKEN}",
        "--checks", ",".join(CHECKS),
        "--max-time", str(seconds),
        "--request-timeout", "20",
        "--seed", "1",
        "--continue-on-failure",
        "--warnings", "off",
    ]
    hooks = {"SCHEMATHESIS_HOOKS": "archives", "PYTHONPATH": str(HERE)}
    with subprocess.Popen(command, cwd=cwd, env={**os.environ, **hooks}, stdout=subprocess.PIPE, text=True) as tool:
        said = []
        for line in tool.stdout:
            print(line, end="", flush=True)
            said.append(line)
    # A line of the scoreboard (tests/hostile).
    generated = re.findall(r"(\d+) generated", "".join(said))
    failures = 0 if tool.returncode == 0 else 1
    print(f"SCORE S13 attempts={generated[-1] if generated else 0} failures={failures}")
    return tool.returncode


if __name__ == "__main__":
    sys.exit(main())
