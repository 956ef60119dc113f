"""Teaches schemathesis to send tar archives: what it invents is the body, or a member of one."""

import io
import tarfile

import schemathesis


@schemathesis.serializer("application/x-tar")
def archive(ctx, value):
    content = value if isinstance(value, bytes) else str(value).encode("utf-8", "surrogatepass")
    # Noise is hardly ever an archive, so every other body is one whose member has the noise as its
    # name and content.
    return content if len(content) % 2 else wrapped(content)


def wrapped(content: bytes) -> bytes:
    body = io.BytesIO()
    with tarfile.open(fileobj=body, mode="w", format=tarfile.GNU_FORMAT) as archive:
        member = tarfile.TarInfo(content.decode("utf-8", "replace").replace("\0", "") or "member")
        member.size = len(content)
        archive.addfile(member, io.BytesIO(content))
    return body.getvalue()
