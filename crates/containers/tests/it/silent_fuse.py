"""A process with a tree of its own, and in it `/mnt`: a file system that it answers for itself.

When a line comes it falls silent; with the word `move` it makes the file system its root before.
"""
import ctypes, os, struct, sys, threading, time

libc = ctypes.CDLL(None, use_errno=True)


def done(outcome):
    if outcome != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


base = sys.argv[1].encode()
done(libc.unshare(0x00020000))  # CLONE_NEWNS
done(libc.mount(b"none", b"/", None, 1 << 14 | 1 << 18, None))  # MS_REC | MS_PRIVATE
done(libc.mount(b"tmpfs", base, b"tmpfs", 0, None))
os.mkdir(base + b"/mnt")
with open(base + b"/file", "w") as file:
    file.write("x")
line = os.open("/dev/fuse", os.O_RDWR)
options = b"fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other" % line
done(libc.mount(b"fuse", base + b"/mnt", b"fuse", 0, options))
silent = False


def answer():
    while True:
        request = os.read(line, 1 << 17)
        _, operation, number = struct.unpack_from("<IIQ", request)
        if silent:
            print("asked", flush=True)
            continue
        error, body = -38, b""  # ENOSYS
        if operation == 26:  # FUSE_INIT
            error, body = 0, struct.pack("<IIIIHHIIHHI", 7, 31, 65536, 0, 12, 10, 4096, 1, 1, 0, 0)
            body += bytes(24)
        if operation == 3:  # FUSE_GETATTR, good for no time at all
            error, body = 0, struct.pack("<QII", 0, 0, 0)
            body += struct.pack("<6Q10I", 1, 0, 0, 0, 0, 0, 0, 0, 0, 0o40755, 2, 0, 0, 0, 4096, 0)
        os.write(line, struct.pack("<IiQ", 16 + len(body), error, number) + body)


threading.Thread(target=answer, daemon=True).start()
os.chdir(base)
os.chroot(".")
print("ready", flush=True)
if sys.stdin.readline().strip() == "move":
    os.chroot("/mnt")
silent = True
print("silent", flush=True)
time.sleep(1000)
