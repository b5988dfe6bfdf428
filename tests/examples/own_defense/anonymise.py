#!/usr/bin/env python3
"""Drops each link with one chance in five: `--defense "command:./anonymise.py {in} {out}"`.

A template. The command reads and writes "source,target" and below it the numbers of two nodes in
each line; AUDIT_SEED changes with each repeat. It sees these two files, its own and the system's
programs, and no network.
"""

import os
import random
import sys


def main(read: str, written: str) -> None:
    draw = random.Random(int(os.environ["AUDIT_SEED"]))
    with open(read) as links, open(written, "w") as kept:
        kept.write(next(links))
        kept.writelines(link for link in links if draw.random() >= 0.2)


if __name__ == "__main__":
    main(*sys.argv[1:])
