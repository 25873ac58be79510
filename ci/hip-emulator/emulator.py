"""Loads code for AMD's GPUs and has tinygrad's emulator compile its instructions, for wavefronts.cpp.

HIP_EMULATOR_SOURCE names a folder with tinygrad's sources, and HIP_EMULATOR_SKIP an instruction that then
does nothing: a mistake to be found. HIP_EMULATOR_TRACE prints each instruction
when it is compiled, which is once.
"""
import ctypes
import mmap
import os
import struct
import sys

sys.path.insert(0, os.environ["HIP_EMULATOR_SOURCE"])
os.environ.setdefault("DEV", "CPU")
from test.mockgpu.amd import emu  # noqa: E402
from tinygrad.renderer.amd import decode_inst  # noqa: E402

TARGET, ARCHITECTURE, LANES = "gfx942", "cdna", 64
# Caches are not modelled, so they need not be written back nor emptied.
SKIPPED = {"BUFFER_WBL2", "BUFFER_INV", os.environ.get("HIP_EMULATOR_SKIP", "")}
# Those that read or write the program counter: wavefronts.cpp runs them.
JUMPS = {"S_GETPC_B64": 1, "S_SETPC_B64": 2, "S_SWAPPC_B64": 3, "S_CALL_B64": 4}
# Arguments of a kernel that the compiler adds, by the numbers that launch() knows; those that are not here are zero.
HIDDEN = {f"hidden_{name}": number for number, name in enumerate(
    ("block_count_x", "block_count_y", "block_count_z", "group_size_x", "group_size_y", "group_size_z", "grid_dims",
     "dynamic_lds_size", "shared_base"), 1)}
NONE = 99
SYMBOLS, RELOCATIONS, LOADED, NOTES, OBJECT, METADATA = 11, 4, 1, 4, 1, 32
ABSOLUTE, RELATIVE = 3, 13  # R_AMDGPU_ABS64, R_AMDGPU_RELATIVE64

kept = []  # memory of loaded code
attribute = emu._iattr


def attribute_of(instruction, name, default=0):
    """Return an attribute; CDNA 3 gives the bit by which an atomic returns the old value another name."""
    return attribute(instruction, "sc0" if name == "glc" and hasattr(instruction, "sc0") else name, default)


emu._iattr = attribute_of
exchange = emu._dpp16_ctrl


def exchange_of(lane, control, row_mask, bank_mask, wave_size):
    """Return the lane from which a lane reads, and whether it does: for the exchanges, too, that the emulator lacks or has otherwise."""
    if control & 0x1f0 != 0x150 and control not in (0x142, 0x143):
        return exchange(lane, control, row_mask, bank_mask, wave_size)
    _, enabled, valid = exchange(lane, 0xe4, row_mask, bank_mask, wave_size)  # each lane from itself
    number = lane.cast(emu.dtypes.int)
    row = number & emu._c(~15, emu.dtypes.int)
    if control == 0x142:  # the last lane of the row before
        return row - emu._c(1, emu.dtypes.int), enabled, row > emu._c(0, emu.dtypes.int)
    if control == 0x143:  # lane 31
        return emu._c(31, emu.dtypes.int), enabled, number > emu._c(31, emu.dtypes.int)
    return row + emu._c(control & 15, emu.dtypes.int), enabled, valid  # one lane of the row


emu._dpp16_ctrl = exchange_of


class Unpacker:
    """Reads MessagePack."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, count):
        self.at += count
        return self.data[self.at - count:self.at]

    def number(self, size, signed=False):
        return int.from_bytes(self.take(size), "big", signed=signed)

    def value(self):
        kind = self.number(1)
        if kind < 0x80:
            return kind
        if kind < 0x90:
            return self.pairs(kind & 15)
        if kind < 0xa0:
            return [self.value() for _ in range(kind & 15)]
        if kind < 0xc0:
            return self.take(kind & 31).decode()
        if kind in (0xc2, 0xc3):
            return kind == 0xc3
        if 0xcc <= kind <= 0xcf:
            return self.number(1 << (kind - 0xcc))
        if 0xd0 <= kind <= 0xd3:
            return self.number(1 << (kind - 0xd0), signed=True)
        if 0xd9 <= kind <= 0xdb:
            return self.take(self.number(1 << (kind - 0xd9))).decode()
        if 0xdc <= kind <= 0xdd:
            return [self.value() for _ in range(self.number(2 << (kind - 0xdc)))]
        if 0xde <= kind <= 0xdf:
            return self.pairs(self.number(2 << (kind - 0xde)))
        raise ValueError(f"MessagePack's type {kind:#x}")

    def pairs(self, count):
        return {self.value(): self.value() for _ in range(count)}


def text_at(elf, offset):
    return elf[offset:elf.index(b"\0", offset)].decode()


def records(elf, section, form):
    return struct.iter_unpack(form, elf[section[4]:section[4] + section[5]])


def metadata(notes):
    at = 0
    while at < len(notes):
        name, size, kind = struct.unpack_from("<III", notes, at)
        at += 12 + (name + 3 & ~3)
        if kind == METADATA:
            return Unpacker(notes[at:at + size]).value()
        at += size + 3 & ~3
    raise ValueError("code without metadata")


def load(address, size):
    """Return kernels as {name: (descriptor, bytes, arguments, threads, registers)}, variables as {name: (address, bytes)},
    and where the code begins and ends."""
    elf = ctypes.string_at(address, size)
    programs_at, sections_at = struct.unpack_from("<QQ", elf, 32)
    program_size, programs, section_size, count = struct.unpack_from("<HHHH", elf, 54)
    programs = [struct.unpack_from("<IIQQQQQQ", elf, programs_at + i * program_size) for i in range(programs)]
    sections = [struct.unpack_from("<IIQQQQIIQQ", elf, sections_at + i * section_size) for i in range(count)]
    length = max(p[3] + p[6] for p in programs if p[0] == LOADED)
    memory = mmap.mmap(-1, length + 4096)
    kept.append(memory)
    base = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    for kind, _, offset, target, _, in_file, _, _ in programs:
        if kind == LOADED:
            memory[target:target + in_file] = elf[offset:offset + in_file]
    symbols, variables = [], {}
    for section in (s for s in sections if s[1] == SYMBOLS):
        for name, info, _, _, value, bytes_ in records(elf, section, "<IBBHQQ"):
            name = text_at(elf, sections[section[6]][4] + name)
            symbols.append((name, base + value))
            if info & 15 == OBJECT:
                variables[name] = (base + value, bytes_)
    for section in (s for s in sections if s[1] == RELOCATIONS):
        for offset, info, addend in records(elf, section, "<QQq"):
            kind = info & 0xffffffff
            if kind not in (ABSOLUTE, RELATIVE):
                raise ValueError(f"relocation {kind}")
            value = symbols[info >> 32][1] if kind == ABSOLUTE else base
            memory[offset:offset + 8] = struct.pack("<Q", value + addend)
    descriptors, kernels = dict(symbols), {}
    notes = next(p for p in programs if p[0] == NOTES)
    for kernel in metadata(elf[notes[2]:notes[2] + notes[5]])["amdhsa.kernels"]:
        arguments = [(HIDDEN.get(a[".value_kind"], NONE) if a[".value_kind"].startswith("hidden_") else 0, a[".offset"], a[".size"])
                     for a in kernel.get(".args", [])]
        kernels[kernel[".name"]] = (descriptors[kernel[".symbol"]], kernel[".kernarg_segment_size"], arguments,
                                    kernel[".max_flat_workgroup_size"], kernel[".vgpr_count"])
    return kernels, variables, base, base + length


def compile(address):
    """Return the function of the instruction at `address` (0: none), the buffers that it takes or a jump with its registers,
    the bytes of the instruction, and whether a wavefront waits after it."""
    code = ctypes.string_at(address, 16)
    instruction = decode_inst(code, ARCHITECTURE)
    name = instruction.op.name if hasattr(instruction, "op") else ""
    if os.environ.get("HIP_EMULATOR_TRACE"):
        print(f"{address:x} {instruction!r}", file=sys.stderr, flush=True)
    if name in SKIPPED:
        return 0, (), instruction.size(), False
    if name in JUMPS:
        word = struct.unpack_from("<I", code)[0]
        source = word & (0xffff if name == "S_CALL_B64" else 0xff)
        return 0, (JUMPS[name], word >> 16 & 127, source), instruction.size(), False
    (program, runtime), instruction = emu._decode_at(address, ARCHITECTURE)
    return runtime.addr, tuple(program.arg.globals), instruction.size(), name == "S_BARRIER"
