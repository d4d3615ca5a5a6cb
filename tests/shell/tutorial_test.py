#!/usr/bin/env python3
"""Runs docs/tutorial.md, docs/how-to.md and docs/compare.md: every ```sh block of one in one folder, in order, and compares what it prints with the ```text block
behind it. `exit=N` behind ```sh is the exit status of its last command that is not a filter.
Usage: tutorial_test.py PATH_OF_SHARDPLAN; with SHARDPLAN_UPDATE_GOLDEN=1 it writes what is printed now."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

docs = pathlib.Path(__file__).resolve().parents[2] / "docs"
pages = {docs / "tutorial.md": 9, docs / "how-to.md": 4, docs / "compare.md": 5}  # how many blocks at the least
block = re.compile(r"```sh(?: exit=(\d))?\n(.*?)```\n(?:\n```text\n(.*?)```\n)?", re.S)


def run(script, folder, binary):
    """As one would type it; the status of a pipe is that of shardplan in it."""
    environment = dict(os.environ, PATH=f"{pathlib.Path(binary).parent}:{os.environ['PATH']}")
    environment.pop("COLUMNS", None)
    return subprocess.run(["bash", "-e", "-o", "pipefail", "-c", script], cwd=folder, env=environment, capture_output=True, text=True)


def run_page(page, least, binary):
    """What does not print what it says."""
    text, failures, count = page.read_text(), [], 0
    with tempfile.TemporaryDirectory() as folder:

        def compared(match):
            nonlocal count
            count += 1
            wanted, script, printed = int(match[1] or 0), match[2], match[3]
            done = run(script, folder, binary)
            if done.returncode != wanted or done.stderr:
                failures.append(f"{script}exit {done.returncode} instead of {wanted}: {done.stderr}")
            if (printed or "") != done.stdout:
                failures.append(f"{script}prints\n{done.stdout}instead of\n{printed or ''}")
            return match[0] if printed is None else match[0].replace(f"```text\n{printed}```", f"```text\n{done.stdout}```")

        updated = block.sub(compared, text)
    assert count >= least, (page, count)
    if os.environ.get("SHARDPLAN_UPDATE_GOLDEN"):
        page.write_text(updated)
        return []
    return failures


def main(binary):
    failures = [failure for page, least in pages.items() for failure in run_page(page, least, binary)]
    print("\n".join(failures) or "as they say")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(str(pathlib.Path(sys.argv[1]).resolve())))
