#pragma once
// A pasted launch of MaxText, as shardplan and the recipes print it, as words that a command understands.
#include <planner/cli/task.hpp>

namespace shardplan {

/// Without a Python launch among the words, the words. With one, "[VAR=VALUE…] python3 -m MODULE [base.yml] KEY=VALUE…"
/// (or "python3 FILE.py …"), what it says:
///   python3 -m MODULE               dropped; InputError where it is no pre-training of MaxText's
///   a YAML file in front of the keys  --config FILE; none for base.yml, whose values are MaxText's defaults
///   LIBTPU_INIT_ARGS=, XLA_FLAGS=   --xla-flags FLAGS, of both; none where they are empty
///                                   or not there, as the launch runs
///   XLA_PYTHON_CLIENT_MEM_FRACTION= --memory-fraction F
///   JAX_PLATFORMS= and others that change nothing of a step, env and export   dropped
/// InputError on another variable in front of python, on a launch that ends with it, and on export without one.
Words without_launch(const Words& words);

}  // namespace shardplan
