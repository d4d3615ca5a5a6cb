#!/usr/bin/env python3
"""Runs the command lines of docs/ci on a repository laid out like MaxText's: green on its own rule sets, red on a new
regression. Usage: workflow_test.py PATH_OF_SHARDPLAN

With SHARDPLAN_UPDATE_GOLDEN=1 it writes docs/ci/baseline anew; read the difference before committing it."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

root = pathlib.Path(__file__).resolve().parents[2]
configs = pathlib.Path("src/maxtext/configs")
sets = ["cp-as-ep", "ep-as-cp", "ep-as-dp", "pipeline-large-moe", "pure-fsdp", "shard-exp-on-fsdp"]


def script_of(step, workflow="github-workflow.yml"):
    """The `run: |` block of a step of the workflow."""
    lines = (root / "docs/ci" / workflow).read_text().splitlines()
    at = lines.index(f"      - name: {step}") + 1
    assert lines[at].strip() == "run: |", lines[at]
    block = []
    for line in lines[at + 1:]:
        if line.strip() and not line.startswith(" " * 10):
            break
        block.append(line[10:])
    return "\n".join(block)


def lay_out(checkout):
    """MaxText's rule sets where MaxText has them, and the committed baseline where the workflow expects it."""
    (checkout / configs / "custom_mesh_and_rule").mkdir(parents=True)
    # base.yml has the run's other settings too, so that a model's own rules are merged into its rules.
    base = (root / "rules/sets/default.yml").read_text() + "\nper_device_batch_size: 12.0\n"
    (checkout / configs / "base.yml").write_text(base)
    for name in sets:
        shutil.copy(root / f"rules/sets/{name}.yml", checkout / configs / "custom_mesh_and_rule")
    shutil.copytree(root / "docs/ci/baseline", checkout / ".github/sharding")


def run(script, checkout, binary):
    """As the runner does: bash -e -o pipefail."""
    environment = dict(os.environ, PATH=f"{pathlib.Path(binary).parent}:{os.environ['PATH']}", GITHUB_STEP_SUMMARY=str(checkout / "summary.md"))
    return subprocess.run(["bash", "-e", "-o", "pipefail", "-c", script], cwd=checkout, env=environment,
                          capture_output=True, text=True)


def update_baseline(checkout, binary):
    recorded = run((root / "docs/ci/record-baseline.sh").read_text(), checkout, binary)
    assert recorded.returncode == 0, recorded.stderr
    for path in sorted((checkout / ".github/sharding").glob("*.json")):
        shutil.copy(path, root / "docs/ci/baseline")


def check_sarif(checkout):
    for name in ["base", *sets]:
        log = json.loads((checkout / f"sarif/{name}.sarif").read_text())
        for result in log["runs"][0]["results"]:
            place = result["locations"][0]["physicalLocation"]
            uri = place["artifactLocation"]["uri"]
            assert (checkout / uri).is_file(), uri
            assert place["region"]["startLine"] >= 1
            assert result["baselineState"] == "unchanged", result["ruleId"]


def change_rule(rules, old, new):
    text = rules.read_text()
    changed = text.replace(f"['activation_batch_moe', {old}]", f"['activation_batch_moe', {new}]")
    assert changed != text
    rules.write_text(changed)


def take_the_experts_axis(rules):
    """The change of docs/ci/expert-parallel-regression.md: the batch takes the experts' axis."""
    change_rule(rules, ["data", "fsdp"], ["data", "fsdp", "expert"])


def keep_the_experts_axis(rules):
    """The other way, in base.yml: the batch leaves the experts' axis alone."""
    change_rule(rules, ["data", "fsdp", "fsdp_transpose", "expert"], ["data", "fsdp"])


def git(checkout, *words):
    done = subprocess.run(["git", "-c", "user.name=t", "-c", "user.email=t@example.com", *words], cwd=checkout, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def comment_on(change, file, checkout, binary):
    """What a pull request that makes this change is told; None: nothing."""
    lay_out(checkout)
    shutil.copy(root / "docs/ci/runs.txt", checkout / ".github/sharding")
    git(checkout, "init", "-q")
    git(checkout, "add", ".")
    git(checkout, "commit", "-qm", "base")
    change(checkout / configs / file)
    git(checkout, "commit", "-qam", "change")
    done = run(script_of("Compare the runs before and after", "plan-difference.yml"), checkout, binary)
    assert done.returncode == 0, done.stdout + done.stderr
    comment = checkout / "comment.md"
    return comment.read_text() if comment.exists() else None


def check_comment(binary):
    """A pull request with that change to one of two sets: the comment is about that set, on every run of the file."""
    with tempfile.TemporaryDirectory() as folder:
        checkout = pathlib.Path(folder)
        comment = comment_on(take_the_experts_axis, "custom_mesh_and_rule/cp-as-ep.yml", checkout, binary)
        runs = [line for line in (root / "docs/ci/runs.txt").read_text().splitlines() if not line.startswith("#")]
        assert [line for line in comment.splitlines() if line.startswith("## ")] == [f"## cp-as-ep: `{run}`" for run in runs], comment
        assert "2.16x slower (" in comment and "all-to-all -3.22 GB, gathered +146 GB" in comment, comment
        assert (checkout / "summary.md").read_text() == comment


def set_steps(base):
    base.write_text(base.read_text() + "steps: 7\n")


def check_comment_on_base(binary):
    """base.yml has MaxText's default rules: a change of them is about every run, one of its other settings about none."""
    assert "src/maxtext/configs/base.yml" in (root / "docs/ci/plan-difference.yml").read_text().split("permissions:")[0]
    for change, says in [(keep_the_experts_axis, True), (set_steps, False)]:
        with tempfile.TemporaryDirectory() as folder:
            comment = comment_on(change, "base.yml", pathlib.Path(folder), binary)
            assert (comment is not None) == says, change
            assert not says or "## base: `" in comment, comment


def main(binary):
    check_comment(binary)
    check_comment_on_base(binary)
    check = script_of("Check every rule set")
    with tempfile.TemporaryDirectory() as folder:
        checkout = pathlib.Path(folder)
        lay_out(checkout)
        if os.environ.get("SHARDPLAN_UPDATE_GOLDEN"):
            return update_baseline(checkout, binary)
        green = run(check, checkout, binary)
        assert green.returncode == 0, "findings that docs/ci/baseline hasn't:\n" + green.stdout + green.stderr
        assert green.stdout == "", green.stdout
        check_sarif(checkout)

        # One set is enough.
        take_the_experts_axis(checkout / configs / "custom_mesh_and_rule/cp-as-ep.yml")
        for name in sets[1:]:
            (checkout / configs / f"custom_mesh_and_rule/{name}.yml").unlink()
        shutil.copy(root / "rules/sets/pure-fsdp.yml", checkout / configs / "base.yml")
        red = run(check, checkout, binary)
        assert red.returncode == 1, red.stdout + red.stderr
        assert "::error file=src/maxtext/configs/custom_mesh_and_rule/cp-as-ep.yml,line=" in red.stdout, red.stdout
    print("ok")


if __name__ == "__main__":
    main(sys.argv[1])
