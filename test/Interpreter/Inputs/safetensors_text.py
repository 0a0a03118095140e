"""Makes and shows safetensors files for tests, without a dependency.

make OUT NAME:DTYPE:SHAPE=V,V,...   shape as 4x2, empty for a scalar
show FILE                           one line a tensor
"""

import json
import struct
import sys

CODES = {"F64": "d", "F32": "f", "I64": "q", "I32": "i", "BOOL": "B"}


def make(path, entries):
    header, data = {}, b""
    for entry in entries:
        description, values = entry.split("=")
        name, dtype, shape = description.rsplit(":", 2)
        number = float if dtype.startswith("F") else int
        numbers = [number(v) for v in values.split(",") if v]
        bytes_ = struct.pack(f"<{len(numbers)}{CODES[dtype]}", *numbers)
        header[name] = {
            "dtype": dtype,
            "shape": [int(d) for d in shape.split("x") if d],
            "data_offsets": [len(data), len(data) + len(bytes_)],
        }
        data += bytes_
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)


def show(path):
    with open(path, "rb") as file:
        header = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
        data = file.read()
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        code = CODES[entry["dtype"]]
        values = struct.unpack(f"<{(end - begin) // struct.calcsize(code)}{code}", data[begin:end])
        print(f"{name} {entry['dtype']} {entry['shape']} {list(values)}")


if __name__ == "__main__":
    if sys.argv[1] == "make":
        make(sys.argv[2], sys.argv[3:])
    else:
        show(sys.argv[2])
