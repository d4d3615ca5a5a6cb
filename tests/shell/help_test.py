#!/usr/bin/env python3
"""The examples of every --help run as they stand, and the manual page has every command, flag and example and is no
trouble to man. Usage: help_test.py PATH_OF_SHARDPLAN"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

root = pathlib.Path(__file__).resolve().parents[2]
programs = root / "tests/data/audit"
answered = (0, 3, 4)  # docs/exit-codes.md


def ask(binary, *words):
    """In lines of 250 columns, where every example is one."""
    return subprocess.run([binary, *words], capture_output=True, text=True, check=True,
                          env=dict(os.environ, COLUMNS="250")).stdout


def commands(binary):
    """The words of each line of the list, up to where its arguments begin: "rules resolve"."""
    lines = re.findall(r"^  (\S.*?)  +\S", ask(binary, "--help"), re.M)
    return [re.match(r"[a-z]+( (list|show|init|resolve|merge)\b)?", line.replace("[plan]", "plan")).group() for line in lines]


def lay_out(folder):
    """The files that examples name."""
    shutil.copy(root / "rules/sets/default.yml", folder / "my_rules.yml")
    shutil.copy(programs / "h100_mx_ep8_dm.hlo.gz", folder / "step.hlo.gz")
    shutil.copy(programs / "mi355_mx_ep8_fix.hlo.gz", folder / "good.hlo.gz")
    shutil.copy(root / "tests/data/calibrate/all_gather_8.log", folder / "all_gather.log")
    shutil.copy(root / "tests/data/calibrate/products.csv", folder)


def run(binary, line, folder):
    environment = dict(os.environ, PATH=f"{pathlib.Path(binary).parent}:{os.environ['PATH']}")
    return subprocess.run(["bash", "-c", line], cwd=folder, env=environment, capture_output=True, text=True)


def check_manual(page, lines, flags, failures):
    text = page.replace("\\-", "-").replace("\\fB", "").replace("\\fR", "").replace("\\fI", "")
    failures += [f"the manual has no {word}" for word in [*lines, *flags] if word not in text]
    if shutil.which("man") is None:
        return
    warnings = subprocess.run(["man", "--warnings", "-l", "-"], input=page, capture_output=True, text=True,
                              env=dict(os.environ, MAN_KEEP_STDERR="1", LC_ALL="C.UTF-8")).stderr
    failures += [f"man: {line}" for line in warnings.splitlines()]


def main(binary):
    failures, lines, flags = [], [], set()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        lay_out(folder)
        for command in commands(binary):
            text = ask(binary, *command.split(), "--help")
            flags |= set(re.findall(r"^  (?:-\w,)?(--[a-z-]+)", text, re.M))
            examples = re.findall(r"^  (shardplan .*)$", text.partition("Examples:")[2], re.M)
            if not examples:
                failures.append(f"{command} --help has no example")
            for line in examples:
                if "sweep merge" in line:  # the other half
                    run(binary, "shardplan sweep --model llama2-7b --hardware h100 --chips 4,8 --rules default --remat full "
                        "--shard 2/2 --format json -o part-2.json", folder)
                done = run(binary, line, folder)
                if done.returncode not in answered:
                    failures.append(f"{line}: exit {done.returncode}: {done.stderr}")
            lines += examples
    check_manual(ask(binary, "man"), lines, flags, failures)
    assert len(lines) > 20 and len(flags) > 40, (lines, flags)
    print("\n".join(failures) or f"{len(lines)} examples, {len(flags)} flags")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(str(pathlib.Path(sys.argv[1]).resolve())))
