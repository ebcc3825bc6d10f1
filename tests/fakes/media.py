"""Small images and recordings, made from nothing."""

from __future__ import annotations

import io
import struct
import wave
import zlib


def make_png(color: tuple[int, int, int], width: int = 32, height: int = 24) -> bytes:
    """A picture of one colour."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = b"".join(b"\0" + bytes(color) * width for _ in range(height))
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def make_wav(samples: int = 800, value: int = 1000) -> bytes:
    """A recording of one value."""
    file = io.BytesIO()
    with wave.open(file, "wb") as recording:
        recording.setnchannels(1)
        recording.setsampwidth(2)
        recording.setframerate(8000)
        recording.writeframes(struct.pack("<h", value) * samples)
    return file.getvalue()


RED, GREEN = make_png((220, 30, 30)), make_png((30, 200, 60))
BEEP = make_wav()
