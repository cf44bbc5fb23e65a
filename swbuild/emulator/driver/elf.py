"""Read and edit 64-bit little-endian relocatable objects and archives, as far as the stand-ins need it."""

from __future__ import annotations

import struct

__all__ = ["FUNCTION", "THREAD", "ElfObject", "Symbol", "members", "rename_symbols"]

FUNCTION = 2
THREAD = 6


class Symbol:
    """One symbol: ``section`` 0 means undefined, ``binding`` 0 local, 1 global, 2 weak."""

    __slots__ = ("binding", "index", "kind", "name", "section", "size")

    def __init__(self, index: int, name: str, info: int, section: int, size: int) -> None:
        self.index, self.name, self.section, self.size = index, name, section, size
        self.kind, self.binding = info & 15, info >> 4


class ElfObject:
    """Section names and symbols of one object file; ``ValueError`` when it is not one."""

    def __init__(self, data: bytes) -> None:
        if data[:4] != b"\x7fELF" or data[4] != 2 or data[5] != 1:
            raise ValueError("not a 64-bit object")
        self.data = data
        self.type = struct.unpack_from("<H", data, 16)[0]
        self.table = struct.unpack_from("<Q", data, 40)[0]
        entry, count, names = struct.unpack_from("<HHH", data, 58)
        self.headers = [struct.unpack_from("<IIQQQQIIQQ", data, self.table + k * entry) for k in range(count)]
        start = self.headers[names][4] if count else 0
        self.sections = [self._text(start + header[0]) for header in self.headers]

    def _text(self, offset: int) -> str:
        return self.data[offset : self.data.index(b"\0", offset)].decode("latin-1")

    def section(self, name: str) -> bytes | None:
        """Return the contents of a section, or None."""
        if name not in self.sections:
            return None
        header = self.headers[self.sections.index(name)]
        return self.data[header[4] : header[4] + header[5]]

    def symtab(self) -> int | None:
        """Return the index of the symbol table."""
        return next((k for k, header in enumerate(self.headers) if header[1] == 2), None)

    def symbols(self) -> list[Symbol]:
        """Return every symbol but the null one."""
        table = self.symtab()
        if table is None:
            return []
        header = self.headers[table]
        names = self.headers[header[6]][4]
        found = []
        for index in range(1, header[5] // 24):
            name, info, _, section, _, size = struct.unpack_from("<IBBHQQ", self.data, header[4] + index * 24)
            found.append(Symbol(index, self._text(names + name), info, section, size))
        return found


def rename_symbols(obj: ElfObject, names: dict[int, str]) -> bytes:
    """Return the object with the symbols of these indices renamed (a new string table goes at the end)."""
    table = obj.symtab()
    if table is None or not names:
        return obj.data
    data = bytearray(obj.data)
    header = obj.headers[table]
    strings = obj.headers[header[6]]
    text = bytearray(obj.data[strings[4] : strings[4] + strings[5]])
    for index, name in names.items():
        struct.pack_into("<I", data, header[4] + index * 24, len(text))
        text += name.encode("latin-1") + b"\0"
    data += b"\0" * (-len(data) % 8)
    entry = struct.unpack_from("<H", obj.data, 58)[0]
    struct.pack_into("<QQ", data, obj.table + header[6] * entry + 24, len(data), len(text))
    return bytes(data + text)


def members(data: bytes) -> list[tuple[str, bytes]]:
    """Return (name, contents) of every member of a Unix archive that is not an index."""
    found, at, long_names = [], 8, b""
    while at + 60 <= len(data):
        name, size = data[at : at + 16].decode("latin-1").rstrip(), int(data[at + 48 : at + 58])
        body = data[at + 60 : at + 60 + size]
        if name == "//":
            long_names = body
        elif name not in ("/", "/SYM64/"):
            if name.startswith("/") and name[1:].isdigit():
                start = int(name[1:])
                name = long_names[start : long_names.index(b"\n", start)].decode("latin-1")
            found.append((name.rstrip("/"), body))
        at += 60 + size + size % 2
    return found
