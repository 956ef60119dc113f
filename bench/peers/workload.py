"""What every peer does, and how its CPU time is taken. `src/operations/ours.rs` does the same.

A peer is a class with `make_directory`, `create`, `read`, `stat` and `list`. Each line of output
is one figure: which operation, how often it was done, and how much CPU time that took.
"""

import argparse
import json
import time

DIRECTORIES = 20
SIZE = 2048
# The files are taken in an order that jumps about: a prime number of files at a time.
STRIDE = 7919
WARM_UP = 2000
# Operations are repeated until they have taken this long, so that the clock's steps do not matter.
ENOUGH_NS = 200_000_000
AT_ONCE = 500

CONTENT = bytes(index * 31 % 251 for index in range(SIZE))


def main(peer):
    parser = argparse.ArgumentParser()
    parser.add_argument("--files", type=int, required=True)
    files = parser.parse_args().files
    warm = scattered(WARM_UP)
    use(filled(peer, warm)[0], warm, enough=0)

    paths = scattered(files)
    tree, done, spent = filled(peer, paths)
    while spent < ENOUGH_NS:
        tree, more, longer = filled(peer, paths)
        done, spent = done + more, spent + longer
    tell("create", done, spent)
    for figure in use(tree, paths, ENOUGH_NS):
        tell(*figure)


def filled(peer, paths):
    """A new tree with all files, how many they are, and how long it took to make them."""
    tree = peer()
    for directory in directories():
        tree.make_directory(directory)
    begin = time.process_time_ns()
    for path in paths:
        tree.create(path, CONTENT)
    return tree, len(paths), time.process_time_ns() - begin


def use(tree, paths, enough):
    return [
        ("read", *repeated(lambda path: check(len(tree.read(path)) == SIZE), paths, enough)),
        ("stat", *repeated(tree.stat, paths, enough)),
        ("list", *repeated(
            lambda directory: check(len(tree.list(directory)) == len(paths) // DIRECTORIES),
            directories(), enough)),
    ]


def repeated(operation, arguments, enough):
    done, at = 0, 0
    begin = time.process_time_ns()
    while True:
        some = arguments[at:at + AT_ONCE]
        for argument in some:
            operation(argument)
        done += len(some)
        at = (at + AT_ONCE) % len(arguments) if len(arguments) > AT_ONCE else 0
        spent = time.process_time_ns() - begin
        if spent >= enough and done >= len(arguments[:AT_ONCE]):
            return done, spent


def directories():
    return [f"/dir-{index:02}" for index in range(DIRECTORIES)]


def scattered(files):
    indexes = (index * STRIDE % files for index in range(files))
    return [f"/dir-{index % DIRECTORIES:02}/file-{index:05}.txt" for index in indexes]


def check(right):
    if not right:
        raise AssertionError("the peer does not hold what was put into it")


def tell(op, count, cpu_ns):
    print(json.dumps({"op": op, "count": count, "cpu_ns": cpu_ns}), flush=True)
