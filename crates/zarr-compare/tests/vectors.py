#!/usr/bin/env python3
"""Digests of docs/digest.md by that page alone: nothing of this library is used, and of Python the standard library.

Prints tests/vectors.json.
"""
import json
import struct

# BLAKE3, from its specification.
IV = (0x6A09E667, 0xBB67AE85, 0x3C6EF372, 0xA54FF53A, 0x510E527F, 0x9B05688C, 0x1F83D9AB, 0x5BE0CD19)
ORDER = (2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8)
CHUNK_START, CHUNK_END, PARENT, ROOT = 1, 2, 4, 8
MASK = 0xFFFFFFFF


def compress(chaining, words, counter, length, flags):
    s = [*chaining, *IV[:4], counter & MASK, counter >> 32, length, flags]

    def mix(a, b, c, d, x, y):
        s[a] = (s[a] + s[b] + x) & MASK
        t = s[d] ^ s[a]
        s[d] = (t >> 16 | t << 16) & MASK
        s[c] = (s[c] + s[d]) & MASK
        t = s[b] ^ s[c]
        s[b] = (t >> 12 | t << 20) & MASK
        s[a] = (s[a] + s[b] + y) & MASK
        t = s[d] ^ s[a]
        s[d] = (t >> 8 | t << 24) & MASK
        s[c] = (s[c] + s[d]) & MASK
        t = s[b] ^ s[c]
        s[b] = (t >> 7 | t << 25) & MASK

    m = words
    for _ in range(7):
        mix(0, 4, 8, 12, m[0], m[1])
        mix(1, 5, 9, 13, m[2], m[3])
        mix(2, 6, 10, 14, m[4], m[5])
        mix(3, 7, 11, 15, m[6], m[7])
        mix(0, 5, 10, 15, m[8], m[9])
        mix(1, 6, 11, 12, m[10], m[11])
        mix(2, 7, 8, 13, m[12], m[13])
        mix(3, 4, 9, 14, m[14], m[15])
        m = [m[i] for i in ORDER]
    return [s[i] ^ s[i + 8] for i in range(8)]


def blake3(data):
    def node(data, first, root):
        if len(data) <= 1024:
            value, blocks = list(IV), [data[i : i + 64] for i in range(0, len(data), 64)] or [b""]
            for i, block in enumerate(blocks):
                flags = (CHUNK_START if i == 0 else 0) | ((CHUNK_END | root) if i == len(blocks) - 1 else 0)
                words = struct.unpack("<16I", block.ljust(64, b"\0"))
                value = compress(value, words, first, len(block), flags)
            return value
        left = 1024
        while left * 2 < len(data):
            left *= 2
        words = node(data[:left], first, 0) + node(data[left:], first + left // 1024, 0)
        return compress(IV, words, 0, 64, PARENT | root)

    return struct.pack("<8I", *node(bytes(data), 0, ROOT))


def encode(value):
    if value is None:
        return b"n"
    if value is True or value is False:
        return b"t" if value else b"f"
    if isinstance(value, (int, float)):
        if value == value and abs(value) != float("inf") and value == int(value) and -(2**63) <= int(value) < 2**64:
            return b"i%d;" % int(value)
        return b"d" + struct.pack(">d", value).hex().encode() + b";"
    if isinstance(value, str):
        text = value.encode()
        return b"s%d:%s" % (len(text), text)
    if isinstance(value, list):
        return b"l%d:" % len(value) + b"".join(map(encode, value))
    members = sorted((name.encode(), name, inner) for name, inner in value.items())
    return b"o%d:" % len(value) + b"".join(encode(name) + encode(inner) for _, name, inner in members)


def box_shape(shape, size):
    most = 2**18
    while most > 1 and most * size > 4 * 2**20:
        most //= 2
    lengths = []
    for length in shape:
        power = 1
        while power < length:
            power *= 2
        lengths.append(power)

    def product():
        count = 1
        for length in lengths:
            count *= length
        return count

    while product() > most:
        lengths[lengths.index(max(lengths))] //= 2
    return lengths


def boxes(shape, lengths):
    """The regions of all boxes in C order: a list of (start, end) along each axis."""
    regions = [[]]
    for size, length in zip(shape, lengths):
        ranges = [(start, min(start + length, size)) for start in range(0, size, length)]
        regions = [region + [one] for region in regions for one in ranges]
    return regions


def positions(shape, region):
    """The positions of the elements of a region in C order, counted in C order of the array."""
    found = [0]
    for size, (start, end) in zip(shape, region):
        found = [position * size + at for position in found for at in range(start, end)]
    return found


def array(data_type, shape, elements, size, ieee=False):
    """`elements`: the bytes of each in C order, as the page says; `size`: bytes of one, 64 if they vary."""
    lengths = box_shape(shape, size)
    parts = [blake3(b"".join(elements[at] for at in positions(shape, region))) for region in boxes(shape, lengths)]
    head = b"zarr array 1\n" + (b"ieee\n" if ieee else b"bits\n") + encode(data_type) + b"\n"
    head += ",".join(map(str, shape)).encode() + b"\n"
    return blake3(head + b"".join(parts)), lengths, parts


def attributes(names, attributes):
    return blake3(b"zarr attributes 1\n" + encode(names) + encode(attributes))


def hierarchy(nodes, ieee=False, counted=False):
    """`nodes`: path, hash of the array or None, hash of the attributes or None."""
    text = b"zarr hierarchy 1\n" + (b"ieee\n" if ieee else b"bits\n") + (b"attributes\n" if counted else b"values\n")
    for path, values, attributes in sorted(nodes, key=lambda node: node[0].encode()):
        text += struct.pack("<Q", len(path.encode())) + path.encode()
        text += b"g" if values is None else b"a" + values
        text += attributes or b""
    return blake3(text)


def variable(elements):
    return [struct.pack("<Q", len(element)) + element for element in elements]


found = []


def vector(name, data_type, shape, elements, ieee=False, canonical=None, varies=False, stored=None, data=None):
    size = 64 if varies else len((stored or elements or [b"\0"])[0])
    encoded = variable(elements) if varies else elements
    digest, lengths, parts = array(canonical or data_type, shape, encoded, size, ieee)
    data = data or [element.hex() for element in (stored or elements)]
    found.append({
        "name": name, "data_type": data_type, "shape": shape, "ieee": ieee, "elements": data,
        "box": lengths, "digest": digest.hex(), "parts": [part.hex() for part in parts],
    })
    return digest


def pack(form, values):
    return [struct.pack("<" + form, value) for value in values]


def counted(count):
    return pack("H", [at * 40503 % 65536 for at in range(count)])


assert blake3(b"").hex() == "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262"

first = vector("four integers", "int16", [4], pack("h", [1, 2, 3, 4]))
vector("no dimensions", "float32", [], pack("f", [1.5]))
vector("no elements", "int16", [0, 3], [])
vector("several boxes", "uint16", [700, 900], counted(700 * 900), data="at * 40503 % 65536")
vector("bools", "bool", [3], [b"\1", b"\0", b"\1"])
floats = [0x7FF8000000000001, 0x8000000000000000, 0xFFF0000000000000, 0x3FF8000000000000]
vector("floats", "float64", [4], pack("Q", floats))
vector("floats, folded", "float64", [4], pack("Q", [0x7FF8000000000000, 0, floats[2], floats[3]]), ieee=True, stored=pack("Q", floats))
vector("halves, folded", "float16", [3], pack("H", [0x7E00, 0, 0x3C00]), ieee=True, stored=pack("H", [0xFC01, 0x8000, 0x3C00]))
vector("complex numbers", "complex64", [2], [struct.pack("<2f", 1.5, -2.0), struct.pack("<2f", 0.0, -0.0)])
vector("times", {"name": "numpy.datetime64", "configuration": {"unit": "s", "scale_factor": 1}}, [2], pack("q", [-(2**63), 86400]))
vector("raw bytes", {"name": "raw_bytes", "configuration": {"length_bytes": 3}}, [2], [b"abc", b"\0\1\2"], canonical="r24")
vector("small integers", "int4", [3], [b"\xf8", b"\7", b"\0"])
fields = [{"name": "id", "data_type": "int32"}, {"name": "x", "data_type": "float64"}]
vector(
    "structs", {"name": "struct", "configuration": {"fields": fields}}, [2], [struct.pack("<id", 1, 0.5), struct.pack("<id", -2, 1e300)],
    canonical={"name": "struct", "configuration": {"fields": [field | {"shape": []} for field in fields]}},
)
vector("texts", "string", [3], ["".encode(), "é\n".encode(), b"abc"], varies=True)
vector("byte strings", "variable_length_bytes", [2], [b"\0", b""], canonical="bytes", varies=True)

second = vector("a byte", "uint8", [1], [b"\7"])
hierarchies = {
    "values": hierarchy([("/a", first, None), ("/g/b", second, None)]).hex(),
    "attributes": hierarchy([
        ("/", None, attributes(None, {"title": "x", "n": 1.0})),
        ("/a", first, attributes(["t"], {"scale": 0.1})),
        ("/g", None, attributes(None, {})),
        ("/g/b", second, attributes(None, {})),
    ], counted=True).hex(),
}
print(json.dumps({"arrays": found, "hierarchies": hierarchies}, indent=1))
