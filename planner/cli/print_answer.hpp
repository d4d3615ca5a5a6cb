#pragma once
// An answer in the format that was asked for.
#include <functional>
#include <planner/cli/task.hpp>
#include <string>

namespace shardplan {

/// What makes each form of one answer; those that its command doesn't offer stay empty.
struct Printers {
  std::function<std::string()> text, json, markdown = {}, csv = {}, sarif = {}, github = {};
  std::string title;  ///< of the page, which is drawn from `json`
};

std::string print_answer(const Printers& printers, Format format);

}  // namespace shardplan
