#!/usr/bin/env python3
"""arguments/keys/refresh_keys.py on a made-up MaxText."""
import copy
import json
import sys
import unittest
from pathlib import Path

KEYS = Path(__file__).resolve().parents[3] / "arguments" / "keys"
sys.dont_write_bytecode = True
sys.path.insert(0, str(KEYS))
import refresh_keys  # noqa: E402

BUILT_IN = json.loads((KEYS / "maxtext_keys.json").read_text())
MODELS = json.loads((KEYS / "model_files.json").read_text())

BASE_YML = """\
# a comment
dtype: "bfloat16"  # compute
steps: 150_001 # how many
mlp_activations: ["silu", "linear"]
path: 'a#b'
empty:
logical_axis_rules: [
                      ['embed', ['fsdp']],
                    ]
"""

SMALL = {"maxtext": {"repository": "r", "commit": "old", "date": "2020-01-01"},
         "settings": [{"key": "dtype", "default": "float32"}, {"key": "gone_setting", "default": "1"}],
         "special": [], "model_dims": [], "axes": [], "remat": [],
         "architecture": [{"key": "mlp_activations", "default": "silu,linear"}],
         "unmodelled": [{"key": "gone", "default": "false", "what": "x"}, {"key": "field", "default": "1", "what": "y"}],
         "ignored": [{"what": "paths", "in_commands": False, "values": [{"of": "flag", "keys": ["gone_flag"]},
                                                                        {"of": "flag", "unset": True, "keys": ["empty"]}],
                      "keys": ["path", "gone_path", "logical_axis_rules"]}]}


class RefreshKeys(unittest.TestCase):
    def test_reads_base_yml(self):
        self.assertEqual(refresh_keys.read_defaults(BASE_YML), {
            "dtype": "bfloat16", "steps": "150_001", "mlp_activations": "silu,linear", "path": "a#b", "empty": "",
            "logical_axis_rules": "["})

    def test_reads_fields(self):
        types = "class A:\n  field: int = Field(1)\n  other: None | Literal['a'] = Field(\n  def f(self):\n"
        self.assertEqual(refresh_keys.read_fields(types), {"field", "other"})

    def test_finds_what_differs_and_keeps_the_classification(self):
        keys = copy.deepcopy(SMALL)
        difference = refresh_keys.compare(keys, refresh_keys.read_defaults(BASE_YML), {"field"})
        self.assertEqual(difference, {"added": {"steps": "150_001"}, "changed": {"dtype": "bfloat16"},
                                      "removed": ["gone", "gone_flag", "gone_path", "gone_setting"]})
        refresh_keys.apply(keys, difference, "0123456789", "2030-01-01")
        self.assertEqual([row["key"] for row in keys["settings"]], ["dtype", "gone_setting"])  # code reads it
        self.assertEqual(keys["settings"][0]["default"], "bfloat16")
        self.assertEqual(keys["unmodelled"][1:], [
            {"key": "steps", "default": "150_001", "what": "a setting that is new in MaxText 012345678"}])
        self.assertEqual(keys["unmodelled"][0]["key"], "field")
        self.assertEqual(keys["ignored"][0]["keys"], ["path", "logical_axis_rules"])
        self.assertEqual([kind["keys"] for kind in keys["ignored"][0]["values"]], [["empty"]])
        self.assertEqual(keys["maxtext"]["commit"], "0123456789")

    def test_keeps_the_defaults_of_what_commands_repeat(self):
        keys = copy.deepcopy(SMALL)
        topic = keys["ignored"][0]
        topic.update(in_commands=True, defaults={"path": "old", "gone_path": "x"})
        difference = refresh_keys.compare(keys, refresh_keys.read_defaults(BASE_YML), {"field"})
        self.assertEqual({key: difference["changed"][key] for key in ("path", "empty")}, {"path": "a#b", "empty": ""})
        refresh_keys.apply(keys, difference, "0123456789", "2030-01-01")
        self.assertEqual({key: topic["defaults"][key] for key in ("path", "empty")}, {"path": "a#b", "empty": ""})
        self.assertNotIn("gone_path", topic["defaults"])

    def test_prints_the_file_as_it_is(self):
        self.assertEqual(refresh_keys.printed(BUILT_IN), (KEYS / "maxtext_keys.json").read_text())
        self.assertEqual(refresh_keys.printed_models(MODELS), (KEYS / "model_files.json").read_text())

    def test_reads_model_files(self):
        self.assertEqual(refresh_keys.read_model(BASE_YML)["steps"], "150001")
        self.assertEqual(refresh_keys.read_model(BASE_YML)["logical_axis_rules"], "[...]")

    def test_finds_what_differs_in_model_files(self):
        known = {"same": {"a": "1"}, "changed": {"a": "1", "gone": "2"}, "removed": {"a": "1"}}
        found = {"same": {"a": "1"}, "changed": {"a": "3", "new": "4"}}
        self.assertEqual(refresh_keys.compare_models(known, found), [
            ("changed", "a", "3"), ("changed", "gone", None), ("changed", "new", "4"), ("removed", "a", None)])


if __name__ == "__main__":
    unittest.main()
