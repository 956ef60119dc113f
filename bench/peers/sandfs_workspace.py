"""sandfs: a copy-on-write workspace, whose core is in Rust behind a thin binding."""

import sandfs

import workload


class Peer:
    def __init__(self):
        files = sandfs.Workspace()
        self.make_directory = files.mkdir
        self.create = files.write
        self.read = files.read
        self.stat = files.stat
        self.list = files.list


workload.main(Peer)
