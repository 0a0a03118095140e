"""Packs the text files of this repository into a token file, one byte a token: pack.py OUT.u8.

Every clone has this text, so the example needs no download. Files come in the order in which git lists them.
"""

import subprocess
import sys
from pathlib import Path


def main():
    root = Path(__file__).resolve().parents[2]
    # The tables of numbers under test/models are no text to learn from.
    command = ["git", "-C", root, "ls-files", "-z", "--", ".", ":!test/models"]
    listed = subprocess.run(command, capture_output=True, check=True)
    texts = []
    for name in listed.stdout.decode().split("\0"):
        path = root / name
        if name and path.is_file() and b"\0" not in (data := path.read_bytes()):
            texts.append(data)
    out = Path(sys.argv[1])
    out.write_bytes(b"\n".join(texts))
    print(f"{out.stat().st_size} tokens from {len(texts)} files")


if __name__ == "__main__":
    main()
