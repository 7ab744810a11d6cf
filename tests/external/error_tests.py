#!/usr/bin/env python3
"""Counts the tests, and those that check an error message or an exit code.

    error_tests.py [SHARE]

A test counts if its body takes an error out (`unwrap_err`, `expect_err`, a rendered failure, the helper `bad`) or looks at
an exit code. Exit code 1 if they are fewer than SHARE (0.15) of all.
"""

import glob
import re
import sys

# What is said or returned, and the helpers of tests/ that demand an error and hand out its words.
MARKS = re.compile(r"unwrap_err|expect_err|exit_code|\bbad\(|\.code\b|\.render\(")
TEST = re.compile(r"#\[test\]\s*(?:#\[[^\]]*\]\s*)*fn (\w+)\(\)[^{]*\{")


def bodies(text):
    """Name and body of every test function."""
    for match in TEST.finditer(text):
        depth, at = 1, match.end()
        while depth and at < len(text):
            depth += {"{": 1, "}": -1}.get(text[at], 0)
            at += 1
        yield match.group(1), text[match.end() : at]


def main():
    share = float(sys.argv[1]) if len(sys.argv) > 1 else 0.15
    tests = []
    for path in sorted(glob.glob("src/**/*.rs", recursive=True) + glob.glob("tests/**/*.rs", recursive=True)):
        with open(path, encoding="utf-8") as file:
            tests += [(path, name, bool(MARKS.search(body))) for name, body in bodies(file.read())]
    marked = sum(mark for *_, mark in tests)
    if "-v" in sys.argv:
        for path, name, mark in tests:
            if mark:
                print(f"{path}: {name}")
    print(f"{marked} of {len(tests)} tests check an error message or an exit code: {100 * marked / len(tests):.0f} %")
    return 0 if marked >= share * len(tests) else 1


if __name__ == "__main__":
    sys.exit(main())
