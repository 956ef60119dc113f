"""fsspec's memory file system, with a store of its own."""

from fsspec.implementations.memory import MemoryFileSystem

import workload


class Peer:
    def __init__(self):
        self.files = MemoryFileSystem(global_store=False, skip_instance_cache=True)
        self.make_directory = self.files.mkdir
        self.create = self.files.pipe_file
        self.read = self.files.cat_file
        self.stat = self.files.info

    def list(self, directory):
        return self.files.ls(directory, detail=False)


workload.main(Peer)
