#!/usr/bin/env python3
"""Completes command lines as a shell does, with the script that `shardplan completion SHELL` prints.
Usage: completion_test.py PATH_OF_SHARDPLAN bash|zsh|fish; exits with 77 where that shell is not installed."""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

# What is typed, and what has to be among the words that are offered.
cases = [
    ("shardplan r", ["rules"]),
    ("shardplan rules r", ["resolve"]),
    ("shardplan sweep m", ["merge"]),
    ("shardplan he", ["help"]),
    ("shardplan help pl", ["plan"]),
    ("shardplan plan --mod", ["--model", "--model-out"]),
    ("shardplan --mod", ["--model", "--model-out"]),
    ("shardplan --model mixtral", ["mixtral-8x7b", "mixtral-8x22b"]),
    ("shardplan plan --rules cp-as-ep,ep-as", ["cp-as-ep,ep-as-cp", "cp-as-ep,ep-as-dp"]),
    ("shardplan rules resolve ep-t", ["ep-tp"]),
    ("shardplan rules resolve default --me", ["--mesh"]),
    ("shardplan sweep --pri", ["--price"]),
    ("shardplan check --format s", ["sarif"]),
    ("shardplan sweep --format c", ["csv"]),
    ("shardplan models show qwen3-0", ["qwen3-0.6b"]),
    ("shardplan hardware init mine --like tpu-v5", ["tpu-v5p", "tpu-v5e"]),
    ("shardplan sweep merge part", ["part-1.json"]),
    ("shardplan explain --as mega", ["megatron"]),
    ("shardplan plan --moe drop", ["dropping"]),
    ("shardplan plan --objective c", ["cost"]),
    ("shardplan plan --rules al", ["all"]),
    ("shardplan sweep --model llama2-7b,my-mo", ["llama2-7b,my-model.json"]),
    ("shardplan explain ici_", ["ici_fsdp_parallelism=", "ici_tensor_parallelism="]),
    ("shardplan explain model_name=", ["model_name=mixtral-8x7b", "model_name=llama2-7b"]),
    ("shardplan explain --chips 8 remat_policy=mi", ["remat_policy=minimal", "remat_policy=minimal_with_context"]),
    ("shardplan plan decoder_layer_input=o", ["decoder_layer_input=offload"]),
    ("shardplan compare attention=cudnn", ["attention=cudnn_flash_te"]),
    ("shardplan audit scan_la", ["scan_layers="]),
    ("shardplan completion fi", ["fish"]),
    ("shardplan hardware init mine --like my-mo", ["my-model.json"]),
]

# What must not be.
never = [
    ("shardplan explain --rules al", "all"),  # one run has one rule set
    ("shardplan plan ici_", "ici_fsdp_parallelism="),  # --mesh says it
    ("shardplan help ici_", "ici_fsdp_parallelism="),
]


def run(shell, script, folder):
    done = subprocess.run([*shell, script], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0 and not done.stderr, done.stderr
    return done.stdout


def in_bash(script, lines, folder):
    for typed in lines:
        words = " ".join(f"'{word}'" for word in re.findall("=|[^ =]+", typed))  # COMP_WORDBREAKS has "="
        yield run(["bash", "--norc", "-c"], f"source {script}; COMP_WORDS=({words}); COMP_CWORD=$((${{#COMP_WORDS[@]}}-1)); "
                  "_shardplan; printf '%s\\n' \"${COMPREPLY[@]}\"", folder).split()


def in_fish(script, lines, folder):
    for typed in lines:
        offered = run(["fish", "--no-config", "-c"], f"source {script}; complete -C '{typed}'", folder)
        yield [line.split("\t")[0] for line in offered.splitlines()]


def in_zsh(script, lines, folder):
    """The completion system needs a terminal, which zpty is; what it adds is written down on the way."""
    keys = f"""
zmodload zsh/zpty
zpty shell zsh -f
zpty -w shell "PS1=; stty -echo; autoload -U compinit; compinit -u -D; source {script}"
zpty -w shell "compadd() {{ builtin compadd -O offered \\"\\$@\\"; print -rl -- \\$offered >> offered; builtin compadd \\"\\$@\\" }}"
zpty -w shell "tell() {{ zle complete-word; print >> told; zle send-break }}; zle -N tell; bindkey '^T' tell; LISTMAX=9999; print >> told"
until [[ -e told ]]; do sleep 0.02; done; rm told
"""
    for typed in lines:
        keys += f"""
zpty -n -w shell "{typed}"$'\\x14'
until [[ -e told ]]; do sleep 0.02; done
print -- "=="; [[ ! -e offered ]] || cat offered; rm -f offered told
"""
    offered = run(["timeout", "120", "zsh", "-f", "-c"], keys + "zpty -d shell\n", folder)
    return [part.split() for part in offered.split("==\n")[1:]]


def main(binary, shell):
    if not shutil.which(shell):
        print(f"{shell} is not installed")
        return 77
    offers = {"bash": in_bash, "zsh": in_zsh, "fish": in_fish}[shell]
    failures = []
    with tempfile.TemporaryDirectory() as folder:
        script = pathlib.Path(folder, "_shardplan")
        script.write_text(subprocess.run([binary, "completion", shell], capture_output=True, text=True, check=True).stdout)
        for name in ("part-1.json", "my-model.json"):
            pathlib.Path(folder, name).write_text("{}")
        for (typed, wanted), offered in zip(cases, offers(script, [typed for typed, _ in cases], folder), strict=True):
            # zsh keeps what stands before a comma, or an =, to itself.
            if not all(word in offered or re.split("[,=]", word)[-1] in offered for word in wanted):
                failures.append(f"{typed}: {wanted} are not among {offered[:8]}")
        for (typed, word), offered in zip(never, offers(script, [typed for typed, _ in never], folder), strict=True):
            if word in offered:
                failures.append(f"{typed}: {word} is offered")
    print("\n".join(failures) or f"{len(cases)} lines")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
