#!/usr/bin/env python3
"""Whether a change made a search slower: two builds take turns on the same requests, CPU time against CPU time.

    bench/compare_builds.py [--runs N] [--slower 1.2] OLD NEW ["ARGUMENTS" …]

OLD and NEW are binaries. Prints the median ratio NEW/OLD of each request; exit status 1 where one is above --slower.
Turns are taken because a machine's speed drifts; ratios, because machines differ.
"""
import argparse
import os
import shlex
import statistics
import subprocess
import sys

REQUESTS = ["--model mixtral-8x7b --chips 8 --hardware mi355x",
            "--model llama3.1-8b --chips 8 --hardware h100,tpu-v5p",
            "--model deepseek3-671b --chips 256 --hardware tpu-v5p",
            "check --rules default"]


def cpu_seconds(binary, arguments):
    process = subprocess.Popen([binary, *shlex.split(arguments)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    message = process.stderr.read()
    _, status, used = os.wait4(process.pid, 0)
    if os.waitstatus_to_exitcode(status) not in (0, 3, 4):
        sys.exit(f"{binary} {arguments}: {message.decode().strip()}")
    return used.ru_utime + used.ru_stime


def ratio(old, new, arguments, runs):
    ratios = []
    for _ in range(runs):
        before, after = cpu_seconds(old, arguments), cpu_seconds(new, arguments)
        ratios.append(after / before)
    return statistics.median(ratios)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("requests", nargs="*", default=REQUESTS)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--slower", type=float, default=1.2)
    given = parser.parse_args()
    slower = False
    for arguments in given.requests:
        found = ratio(given.old, given.new, arguments, given.runs)
        slower = slower or found > given.slower
        print(f"{found:6.2f}  {arguments}")
    return 1 if slower else 0


if __name__ == "__main__":
    sys.exit(main())
