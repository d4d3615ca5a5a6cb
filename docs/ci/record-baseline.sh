#!/usr/bin/env bash
# Writes down what the rule sets of this checkout are known to do: run it in the root of a MaxText checkout, read the
# difference, commit it. Only findings beyond these fail the workflow.
set -euo pipefail
mkdir -p .github/sharding
for rules in src/maxtext/configs/base.yml src/maxtext/configs/custom_mesh_and_rule/*.yml; do
  # 4: there are errors, which is what is to be written down.
  shardplan check --rules "$rules" --format json -o ".github/sharding/$(basename "$rules" .yml).json" || [ $? -eq 4 ]
done
