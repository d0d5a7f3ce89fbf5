"""Fields of rdmascope and of tshark under one name: which there are, and whether they mean the same.

A field means the same when its class of type and its width agree. tshark's width is the number of bits in the mask,
or of the type where there is no mask.
"""
import json
import re
import subprocess

# Names tshark has under these must exist here too: the whole common header set of the InfiniBand dissector.
WHOLE_SETS = re.compile(r"infiniband\.(lrh|grh|rwh|bth|rdeth|deth|reth|atomiceth|aeth|atomicacketh|immdt|ieth|mad)\b"
                        r"|infiniband_link\.")

CLASS_OF_OURS = {"number": "number", "hex": "number", "flag": "bool", "bytes": "bytes", "mac": "ether", "ipv4": "ipv4",
                 "ipv6": "ipv6", "text": "string", "time": "time",
                 "named": "string"}  # a checksum status; tshark calls its base "none", which reads as a string here
CLASS_OF_TSHARK = {"FT_BOOLEAN": "bool", "FT_BYTES": "bytes", "FT_UINT_BYTES": "bytes", "FT_ETHER": "ether",
                   "FT_IPv4": "ipv4", "FT_IPv6": "ipv6", "FT_RELATIVE_TIME": "time", "FT_ABSOLUTE_TIME": "time",
                   "FT_STRING": "string", "FT_STRINGZ": "string", "FT_STRINGZPAD": "string", "FT_UINT_STRING": "string",
                   "FT_STRINGZTRUNC": "string", "FT_GUID": "bytes", "FT_EUI64": "number", "FT_CHAR": "number"}


class Field:
    def __init__(self, kind, bits):
        self.kind, self.bits = kind, bits

    def __str__(self):
        return f"{self.kind} of {self.bits} bits" if self.bits else self.kind


def tshark_field(name, type_name, mask):
    if name.endswith(".status") and type_name == "FT_UINT8":  # of a checksum: a word to its users
        return Field("string", 0)
    number = re.fullmatch(r"FT_U?INT(\d+)", type_name)
    mask_bits = bin(int(mask, 16)).count("1") if mask else 0
    if number:
        return Field("number", mask_bits or int(number[1]))
    kind = CLASS_OF_TSHARK.get(type_name)
    if kind == "bool":  # without a mask: one bit of its own
        return Field("bool", mask_bits or 1)
    return Field(kind, mask_bits) if kind else None


def tshark_fields():
    """Name -> definitions. One name may be defined more than once."""
    listing = subprocess.run(["tshark", "-G", "fields"], capture_output=True, text=True, errors="replace", check=True)
    fields = {}
    for line in listing.stdout.splitlines():
        column = line.split("\t")
        if column[0] != "F" or len(column) < 7:
            continue
        field = tshark_field(column[2], column[3], column[6])
        if field:
            fields.setdefault(column[2], []).append(field)
    return fields


def our_fields(rdmascope):
    """Name -> definition; a header's own name is its bytes."""
    listing = subprocess.run([rdmascope, "fields", "-T", "json"], capture_output=True, text=True, check=True)
    fields = {}
    for row in json.loads(listing.stdout):
        field = Field(CLASS_OF_OURS[row["type"]], row["bits"])
        fields.setdefault(row["header"], Field("bytes", 0))
        for name in [row["name"]] + ([row["also"]] if "also" in row else []):
            fields[name] = field
    return fields


def same_meaning(ours, theirs):
    one_bit = ours.bits == 1 and theirs.bits == 1  # a flag, or a number of one bit: either way 0 or 1
    same_kind = ours.kind == theirs.kind or (one_bit and {ours.kind, theirs.kind} == {"number", "bool"})
    measured = ours.bits and theirs.bits and ours.kind in ("number", "bool")
    return same_kind and (not measured or ours.bits == theirs.bits)


def best(field, definitions):
    """tshark's definition to compare with."""
    return next((d for d in definitions if same_meaning(field, d)), definitions[0])


def compare(ours, theirs):
    """Mismatches as (name, tshark's, ours), and names of ours under infiniband. that tshark does not have."""
    mismatches = []
    for name in sorted(set(ours) & set(theirs)):
        if not any(same_meaning(ours[name], definition) for definition in theirs[name]):
            mismatches.append((name, " or ".join(str(d) for d in theirs[name]), str(ours[name])))
    for name in sorted(theirs):
        if WHOLE_SETS.match(name) and name not in ours:
            mismatches.append((name, " or ".join(str(d) for d in theirs[name]), "none"))
    own = [name for name in sorted(ours) if name.startswith("infiniband.") and name not in theirs]
    return mismatches, own
