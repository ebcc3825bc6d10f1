"""How files are opened that somebody else may have put there."""

from __future__ import annotations

import errno
import os
import stat


def plainly(path: str, flags: int) -> int:
    """Open a regular file only: a link would have us read, as who we are, what others may not; a pipe would block.

    Raises:
        OSError: it is something else, or gone.
    """
    handle = os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK)
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise OSError(errno.EINVAL, "not a regular file")
    return handle
