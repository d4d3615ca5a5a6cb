#!/usr/bin/env python3
"""Compares arguments/keys/maxtext_keys.json and model_files.json with a MaxText checkout, and brings them up to date.

  refresh_keys.py CHECKOUT [--revision REV]            what differs: keys added, removed, defaults changed; exit 1 if any
  refresh_keys.py CHECKOUT [--revision REV] --update   the same, and writes it into the files

CHECKOUT is a git repository of MaxText, bare or not. The classification of keys is made by hand and kept. A key that
is new is entered as `unmodelled`: shardplan then takes its default only, until somebody has read what it does.
A key that MaxText took away goes, unless code reads it: those rows stay, and are named. Of ignored keys that printed
commands repeat the defaults are there too. model_files.json has what each
of its configs/models/*.yml sets; of lists that go on in further lines that they do."""
import argparse
import json
import re
import subprocess
import sys
from pathlib import Path

KEYS_FILE = Path(__file__).with_name("maxtext_keys.json")
MODELS_FILE = Path(__file__).with_name("model_files.json")
CONFIGS = "src/maxtext/configs"
ROWS_WITH_DEFAULT = ("settings", "special", "model_dims", "architecture", "remat", "unmodelled")
READ_BY_CODE = ("settings", "special", "model_dims", "architecture")
LINE_WIDTH = 118
MORE_LINES = "[...]"


def git(checkout, *words):
    done = subprocess.run(["git", "-C", str(checkout), *words], check=True, capture_output=True, text=True)
    return done.stdout


def without_comment(text):
    quote = None
    for i, letter in enumerate(text):
        if quote:
            quote = None if letter == quote else quote
        elif letter in "'\"":
            quote = letter
        elif letter == "#" and (i == 0 or text[i - 1].isspace()):
            return text[:i].strip()
    return text.strip()


def read_defaults(base_yml):
    """Top-level `key: value` lines; what a value goes on with is indented and only long lists have it."""
    defaults = {}
    for line in base_yml.splitlines():
        found = re.match(r"([A-Za-z_]\w*):(?:\s+(.*))?$", line)
        if found:
            defaults[found[1]] = as_text(without_comment(found[2] or ""))
    return defaults


def as_text(value):
    """A YAML value as MaxText's command line writes it: no quotes, lists as a,b."""
    if value.startswith("[") and value.endswith("]") and value != "[]":
        return ",".join(as_text(item.strip()) for item in value[1:-1].split(","))
    return value[1:-1] if len(value) > 1 and value[0] == value[-1] and value[0] in "'\"" else value


def read_fields(types_py):
    """The names of the fields of types.py, some of which base.yml doesn't set."""
    return set(re.findall(r"^  ([a-z_]\w*): [^=\n]+(?:\[[^=]*\])? = ", types_py, re.MULTILINE))


def models_value(text):
    """YAML's 10_000 is 10000."""
    if text in ("", "["):
        return MORE_LINES
    return text.replace("_", "") if re.fullmatch(r"[\d_]+", text) else text


def read_model(text):
    """What one of configs/models/*.yml sets."""
    return {key: models_value(value) for key, value in sorted(read_defaults(text).items())}


def read_model_files(checkout, commit):
    names = git(checkout, "ls-tree", "--name-only", commit, f"{CONFIGS}/models/").split()
    return {Path(name).stem: read_model(git(checkout, "show", f"{commit}:{name}")) for name in names if name.endswith(".yml")}


def canonical(text):
    """What two spellings of one value have in common; the C++ side has the same (argument_values.cpp)."""
    word = re.sub(r"[ '\"\[\]()]", "", str(text).lower())
    if word in ("none", "null"):
        return ""
    try:
        return repr(float(word))
    except ValueError:
        return word


def rows_of(keys):
    """(role, row) of every key that has a row of its own."""
    return [(role, row) for role in ROWS_WITH_DEFAULT for row in keys[role]]


def axis_keys(keys):
    return {f"{network}_{row['flag']}_parallelism" for network in ("ici", "dcn") for row in keys["axes"]}


def key_lists(topic):
    """What has keys of a topic: itself, of those that may say anything, and its kinds of values."""
    return [topic, *topic.get("values", [])]


def repeated_keys(topic):
    """The keys of a topic that printed commands repeat."""
    return [key for listed in key_lists(topic) for key in listed["keys"]] if topic["in_commands"] else []


def known_keys(keys):
    ignored = {key for topic in keys["ignored"] for listed in key_lists(topic) for key in listed["keys"]}
    return {row["key"] for _, row in rows_of(keys)} | ignored | axis_keys(keys)


def compare_models(known, models):
    """(model, key, what its file says now) of all that changed; None for what it doesn't say any more."""
    named = [(model, key) for files in (known, models) for model, sets in files.items() for key in sets]
    return [(model, key, models.get(model, {}).get(key)) for model, key in sorted(set(named))
            if models.get(model, {}).get(key) != known.get(model, {}).get(key)]


def compare(keys, defaults, fields):
    changed = {}
    for _, row in rows_of(keys):
        new = defaults.get(row["key"])
        if "default" in row and new is not None and canonical(new) != canonical(row["default"]):
            changed[row["key"]] = new
    for topic in keys["ignored"]:
        for key in repeated_keys(topic):
            new = defaults.get(key)
            if new is not None and canonical(new) != canonical(topic["defaults"].get(key, MORE_LINES)):
                changed[key] = new
    known = known_keys(keys)
    return {"added": {key: value for key, value in defaults.items() if key not in known},
            "removed": sorted(key for key in known if key not in defaults and key not in fields),
            "changed": changed}


def apply(keys, difference, commit, date):
    for _, row in rows_of(keys):
        if row["key"] in difference["changed"]:
            row["default"] = difference["changed"][row["key"]]
    gone = set(difference["removed"])
    for role in ("remat", "unmodelled"):
        keys[role] = [row for row in keys[role] if row["key"] not in gone]
    for topic in keys["ignored"]:
        for listed in key_lists(topic):
            listed["keys"] = [key for key in listed["keys"] if key not in gone]
        if "values" in topic:
            topic["values"] = [kind for kind in topic["values"] if kind["keys"]]
        if topic["in_commands"]:
            new = {**topic["defaults"], **difference["changed"]}
            topic["defaults"] = {key: new[key] for key in sorted(repeated_keys(topic)) if key in new}
    for key, value in difference["added"].items():
        what = f"a setting that is new in MaxText {commit[:9]}"
        keys["unmodelled"].append({"key": key, "default": value, "what": what})
    keys["maxtext"].update(commit=commit, date=date)


def wrapped(words, indent):
    lines, line = [], ""
    for word in words:
        if line and len(indent) + len(line) + len(word) + 2 > LINE_WIDTH:
            lines.append(line)
            line = ""
        line += (" " if line else "") + word
    return ("\n" + indent).join([*lines, line])


def printed(keys):
    """JSON with one row a line."""
    def row_list(rows):
        return "[\n" + ",\n".join("    " + json.dumps(row, ensure_ascii=False) for row in rows) + "\n  ]"

    def key_list(row, indent):
        words = [json.dumps(key) + "," for key in sorted(row["keys"])]
        return f'"keys": [{wrapped(words, indent).removesuffix(",")}]'

    def kind(row):
        head = json.dumps({key: value for key, value in row.items() if key != "keys"})[:-1]
        return f'       {head},\n        {key_list(row, " " * 17)}}}'

    def topic(row):
        head = f'"what": {json.dumps(row["what"])}, "in_commands": {json.dumps(row["in_commands"])}'
        if "variable" in row:
            head += f', "variable": {json.dumps(row["variable"])}'
        values = '     "values": [\n' + ",\n".join(kind(one) for one in row.get("values", [])) + "],\n"
        defaults = f',\n     "defaults": {{{text_map(row["defaults"], " " * 18)}}}' if row["in_commands"] else ""
        return f'    {{{head},\n{values if "values" in row else ""}     {key_list(row, " " * 14)}{defaults}}}'

    parts = [f'  "maxtext": {json.dumps(keys["maxtext"])}']
    parts += [f'  "{role}": {row_list(keys[role])}' for role in (*ROWS_WITH_DEFAULT, "axes")]
    parts.append('  "ignored": [\n' + ",\n".join(topic(row) for row in keys["ignored"]) + "\n  ]")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def text_map(row, indent):
    words = [f"{json.dumps(key)}: {json.dumps(value)}," for key, value in sorted(row.items())]
    return wrapped(words, indent).removesuffix(",")


def printed_models(models):
    return "{\n" + ",\n".join(f"  {json.dumps(name)}:\n  {{{text_map(row, ' ' * 3)}}}" for name, row in sorted(models.items())) + "\n}\n"


def report(difference, changed_models, keys):
    by_code = {row["key"] for role, row in rows_of(keys) if role in READ_BY_CODE} | axis_keys(keys)
    for key, value in difference["added"].items():
        print(f"added    {key}: {value!r}")
    for key in difference["removed"]:
        print(f"removed  {key}" + (" (stays: code reads it)" if key in by_code else ""))
    for key, value in difference["changed"].items():
        print(f"default  {key}: now {value!r}")
    for model, key, value in changed_models:
        print(f"model    {model}: " + (f"doesn't say {key} now" if value is None else f"{key} is now {value!r}"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkout", type=Path)
    parser.add_argument("--revision", default="HEAD")
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--file", type=Path, default=KEYS_FILE, help=argparse.SUPPRESS)
    parser.add_argument("--models-file", type=Path, default=MODELS_FILE, help=argparse.SUPPRESS)
    flags = parser.parse_args()
    keys = json.loads(flags.file.read_text())
    commit, date = git(flags.checkout, "log", "-1", "--format=%H %cs", flags.revision).split()
    defaults = read_defaults(git(flags.checkout, "show", f"{commit}:{CONFIGS}/base.yml"))
    fields = read_fields(git(flags.checkout, "show", f"{commit}:{CONFIGS}/types.py"))
    difference, models = compare(keys, defaults, fields), read_model_files(flags.checkout, commit)
    changed_models = compare_models(json.loads(flags.models_file.read_text()), models)
    report(difference, changed_models, keys)
    if flags.update:
        apply(keys, difference, commit, date)
        flags.file.write_text(printed(keys))
        flags.models_file.write_text(printed_models(models))
    return 1 if any(difference.values()) or changed_models else 0


if __name__ == "__main__":
    sys.exit(main())
