"""Read and edit 64-bit little-endian relocatable objects and archives, as far as the stand-ins need it."""

from __future__ import annotations

import struct

__all__ = [
    "EXCLUDE",
    "FILE",
    "FUNCTION",
    "THREAD",
    "ElfObject",
    "Symbol",
    "add_section",
    "pieces",
    "rename_symbols",
]

EXCLUDE = 0x80000000
FUNCTION = 2
FILE = 4
THREAD = 6
#: The first bytes of archives: those that hold their members, and those that name them (Meson makes such).
_THIN = b"!<thin>\n"
_ARCHIVES = (b"!<arch>\n", _THIN)


def _native() -> int:
    """Return the ELF machine number of this interpreter's own machine."""
    import os

    return {"x86_64": 62, "aarch64": 183, "riscv64": 243}.get(os.uname().machine, 0)


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
        self.foreign = struct.unpack_from("<H", data, 18)[0] != _native()
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


def weaken_functions(data: bytes, names: set[str]) -> bytes:
    """Return the object with the functions of these names, where it defines them, weak instead of global."""
    obj = ElfObject(data) if names else None
    table = obj.symtab() if obj else None
    if obj is None or table is None:
        return data
    changed = bytearray(data)
    for symbol in obj.symbols():
        if symbol.name in names and symbol.section and symbol.binding == 1 and symbol.kind == FUNCTION:
            changed[obj.headers[table][4] + symbol.index * 24 + 4] = 2 << 4 | FUNCTION
    return bytes(changed)


def add_section(data: bytes, name: str, payload: bytes, flags: int = 0) -> bytes:
    """Return the file with one more section that is not loaded (headers and names move to the end)."""
    obj = ElfObject(data)
    names_at = struct.unpack_from("<H", data, 62)[0]
    names = obj.headers[names_at]
    text = data[names[4] : names[4] + names[5]]
    out = bytearray(data)
    out += b"\0" * (-len(out) % 16)
    payload_at = len(out)
    out += payload
    text_at = len(out)
    new_text = text + name.encode() + b"\0"
    out += new_text
    out += b"\0" * (-len(out) % 8)
    table = len(out)
    for k, header in enumerate(obj.headers):
        fields = list(header)
        if k == names_at:
            fields[4], fields[5] = text_at, len(new_text)
        out += struct.pack("<IIQQQQIIQQ", *fields)
    out += struct.pack("<IIQQQQIIQQ", len(text), 1, flags, 0, payload_at, len(payload), 0, 0, 16, 0)
    struct.pack_into("<Q", out, 40, table)
    struct.pack_into("<H", out, 60, len(obj.headers) + 1)
    return bytes(out)


def pieces(path: str) -> tuple[bool, list[tuple[str, bytes]]]:
    """Return whether the file is an archive, and (name, contents) of its members, or of the file."""
    with open(path, "rb") as stream:
        data = stream.read()
    if data[:8] not in _ARCHIVES:
        return False, [("", data)]
    return True, _members(data, path.rpartition("/")[0] if data[:8] == _THIN else None)


def _members(data: bytes, folder: str | None) -> list[tuple[str, bytes]]:
    """Return the members that are no index; those of a thin archive are files as seen from ``folder``."""
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
            name = name.rstrip("/")
            if folder is None:
                found.append((name, body))
            else:
                with open(f"{folder or '.'}/{name}" if name[0] != "/" else name, "rb") as stream:
                    found.append((name, stream.read()))
                size = 0  # only headers are in the archive
        at += 60 + size + size % 2
    return found
