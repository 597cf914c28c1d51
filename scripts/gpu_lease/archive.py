# SPDX-License-Identifier: Apache-2.0
"""A folder as one .tgz that is written anew again and again: each file is a gzip member of its own, compressed once for as long as it does not change."""
import gzip
import os
import tarfile


class Archive:
    def __init__(self, file, most_bytes):
        self.file, self.most_bytes = file, most_bytes
        self.members = {}  # path -> (size and time, compressed)

    def extract(self, folder):
        if self.file.exists():
            with tarfile.open(self.file) as files:
                files.extractall(folder)

    def write(self, folder):
        """Returns the files that stay out so that the whole is not too large: the largest ones, those of a database last."""
        files = [file for file in sorted(folder.rglob("*")) if file.is_file()]
        end = gzip.compress(bytes(2 * tarfile.BLOCKSIZE))
        room = self.most_bytes - len(end) - sum(len(self.member(folder, file)) for file in files)
        left_out = []
        for file in sorted(files, key=lambda file: (file.parent.name == "database", -len(self.member(folder, file)))):
            if room >= 0:
                break
            left_out.append(file)
            room += len(self.member(folder, file))
        write_whole(self.file, b"".join(self.member(folder, file) for file in files if file not in left_out) + end)
        return left_out

    def member(self, folder, file):
        state = file.stat()
        version, compressed = self.members.get(file, (None, b""))
        if version != (state.st_size, state.st_mtime_ns):
            data = file.read_bytes()
            header = tarfile.TarInfo(str(file.relative_to(folder)))
            header.size, header.mtime, header.mode = len(data), int(state.st_mtime), 0o644
            compressed = gzip.compress(header.tobuf() + data + bytes(-len(data) % tarfile.BLOCKSIZE), compresslevel=6)
            self.members[file] = (state.st_size, state.st_mtime_ns), compressed
        return compressed


def write_whole(file, data):
    """A call that is killed leaves the old file or the new one."""
    part = file.with_name(f".{file.name}.part")
    part.write_bytes(data)
    os.replace(part, file)
