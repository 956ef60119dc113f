"""A file system in memory that does less than it is asked: it writes and reads a part of what it is given.

With the word `sulking` every fifth write is answered with EINTR as well, with `silent` nothing is answered
any more from the first line of standard input on. Mounted at the first argument; it says `ready`, and ends
when its standard input does.
"""
import ctypes, errno, os, stat, struct, sys, threading

point, mood = sys.argv[1].encode(), sys.argv[2]
libc = ctypes.CDLL(None, use_errno=True)
line = os.open("/dev/fuse", os.O_RDWR | os.O_CLOEXEC)
options = b"fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other,default_permissions" % line
if libc.mount(b"halving", point, b"fuse", 0, options) != 0:
    sys.exit(os.strerror(ctypes.get_errno()))


class Node:
    def __init__(self, mode, content):
        self.mode, self.content, self.links = mode, content, 1
        self.uid = self.gid = 0
        self.times = [(0, 0)] * 3


# Directories hold numbers by name, files hold bytes, links hold their target.
nodes = {1: Node(stat.S_IFDIR | 0o755, {})}
writes = 0
silent = False


def new(parent, name, mode, content, uid, gid):
    if name in nodes[parent].content:
        raise OSError(errno.EEXIST, "")
    number = len(nodes) + 1
    nodes[number] = Node(mode, content)
    nodes[number].uid, nodes[number].gid = uid, gid
    nodes[parent].content[name] = number
    return number


def child(parent, name):
    try:
        return nodes[parent].content[name]
    except KeyError:
        raise OSError(errno.ENOENT, "") from None


def attributes(number):
    node = nodes[number]
    size = len(node.content) if not stat.S_ISDIR(node.mode) else 4096
    seconds, nanoseconds = [t[0] for t in node.times], [t[1] for t in node.times]
    return struct.pack("<6Q10I", number, size, (size + 511) // 512, *seconds, *nanoseconds,
                       node.mode, node.links, node.uid, node.gid, 0, 4096, 0)


def entry(number):
    return struct.pack("<QQQQII", number, 0, 0, 0, 0, 0) + attributes(number)


def setattr(number, body):
    node = nodes[number]
    valid, _, _, size, _, *rest = struct.unpack_from("<IIQQQQQQIIIIIII", body)
    (atime, mtime, ctime, atimens, mtimens, ctimens, mode, _, uid, gid) = rest
    if valid & 1:
        node.mode = stat.S_IFMT(node.mode) | (mode & 0o7777)
    if valid & 2:
        node.uid = uid
    if valid & 4:
        node.gid = gid
    if valid & 8:
        node.content = node.content[:size].ljust(size, b"\0") if size < 1 << 30 else node.content
        node.content = bytearray(node.content)
    if valid & 16:
        node.times[0] = (atime, atimens)
    if valid & 32:
        node.times[1] = (mtime, mtimens)
    return struct.pack("<QII", 0, 0, 0) + attributes(number)


def write(number, body):
    global writes
    _, offset, size = struct.unpack_from("<QQI", body)
    writes += 1
    if mood == "sulking" and writes % 5 == 0:
        raise OSError(errno.EINTR, "")
    piece = body[40:40 + max(1, size // 3)]
    content = nodes[number].content
    if len(content) < offset:
        content.extend(bytes(offset - len(content)))
    content[offset:offset + len(piece)] = piece
    return struct.pack("<II", len(piece), 0)


def read(number, body):
    _, offset, size = struct.unpack_from("<QQI", body)
    return bytes(nodes[number].content[offset:offset + max(1, size // 3)])


def readdir(number, body):
    _, offset, size = struct.unpack_from("<QQI", body)
    names = [(b".", number), (b"..", 1), *nodes[number].content.items()]
    out = b""
    for at, (name, found) in list(enumerate(names))[offset:]:
        kind = stat.S_IFMT(nodes[found].mode) >> 12
        record = struct.pack("<QQII", found, at + 1, len(name), kind) + name
        record += bytes(-len(record) % 8)
        if len(out) + len(record) > size:
            break
        out += record
    return out


def remove(parent, name):
    number = child(parent, name)
    if stat.S_ISDIR(nodes[number].mode) and nodes[number].content:
        raise OSError(errno.ENOTEMPTY, "")
    del nodes[parent].content[name]
    nodes[number].links -= 1
    return b""


def rename(parent, target, flags, names):
    old, fresh = names.split(b"\0")[:2]
    number, there = child(parent, old), nodes[target].content.get(fresh)
    if flags & 1 and there is not None:
        raise OSError(errno.EEXIST, "")
    if flags & 2:
        nodes[parent].content[old], nodes[target].content[fresh] = child(target, fresh), number
        return b""
    if there is not None:
        remove(target, fresh)
    del nodes[parent].content[old]
    nodes[target].content[fresh] = number
    return b""


def serve(operation, number, uid, gid, body):
    name = body.split(b"\0")[0]
    if operation == 1:
        return entry(child(number, name))
    if operation == 3:
        return struct.pack("<QII", 0, 0, 0) + attributes(number)
    if operation == 4:
        return setattr(number, body)
    if operation == 5:
        return bytes(nodes[number].content)
    if operation == 6:
        name, target = body.split(b"\0")[:2]
        return entry(new(number, name, stat.S_IFLNK | 0o777, bytearray(target), uid, gid))
    if operation == 9:
        mode, _ = struct.unpack_from("<II", body)
        name = body[8:].split(b"\0")[0]
        return entry(new(number, name, stat.S_IFDIR | mode & 0o7777, {}, uid, gid))
    if operation in (10, 11):
        return remove(number, name)
    if operation == 12:
        return rename(number, struct.unpack_from("<Q", body)[0], 0, body[8:])
    if operation == 13:
        target, = struct.unpack_from("<Q", body)
        name = body[8:].split(b"\0")[0]
        if name in nodes[number].content:
            raise OSError(errno.EEXIST, "")
        nodes[number].content[name] = target
        nodes[target].links += 1
        return entry(target)
    if operation in (14, 27):  # Every read and write is to be asked for.
        return struct.pack("<QII", 0, 1, 0)
    if operation == 15:
        return read(number, body)
    if operation == 16:
        return write(number, body)
    if operation == 17:
        return struct.pack("<5QIII", 1 << 20, 1 << 20, 1 << 20, 1 << 20, 1 << 20, 4096, 255, 4096) + bytes(28)
    if operation in (18, 20, 25, 29, 30):
        return b""
    if operation == 28:
        return readdir(number, body)
    if operation == 35:
        _, mode = struct.unpack_from("<II", body)
        name = body[16:].split(b"\0")[0]
        made = new(number, name, stat.S_IFREG | mode & 0o7777, bytearray(), uid, gid)
        return entry(made) + struct.pack("<QII", 0, 1, 0)
    if operation == 45:
        target, flags = struct.unpack_from("<QI", body)
        return rename(number, target, flags, body[16:])
    raise OSError(errno.ENOSYS, "")


def answer():
    while True:
        request = os.read(line, 1 << 20)
        _, operation, unique, number, uid, gid = struct.unpack_from("<IIQQII", request)
        if silent or operation in (2, 36, 42):  # Forgotten or interrupted: nothing to say.
            continue
        error, body = 0, b""
        if operation == 26:
            body = struct.pack("<IIIIHHIIHHI", 7, 31, 65536, 0, 12, 10, 1 << 17, 1, 1, 0, 0) + bytes(24)
        else:
            try:
                body = serve(operation, number, uid, gid, request[40:])
            except OSError as err:
                error = -err.errno
        try:
            os.write(line, struct.pack("<IiQ", 16 + len(body), error, unique) + body)
        except FileNotFoundError:
            pass  # Whoever asked has gone.


threading.Thread(target=answer, daemon=True).start()
print("ready", flush=True)
sys.stdin.readline()
silent = mood == "silent"
print("silent", flush=True)
sys.stdin.read()
