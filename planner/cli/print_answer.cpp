#include <planner/cli/print_answer.hpp>
#include <planner/report/html/html_report.hpp>
#include <shardplan/error.hpp>
#include <shardplan/spelling.hpp>

namespace shardplan {
namespace {

std::string printed(const std::function<std::string()>& print) {
  if (!print) throw InternalError("a format that the command doesn't offer");
  return print();
}

}  // namespace

std::string print_answer(const Printers& printers, Format format) {
  switch (format) {
    case Format::text:
      return printed(printers.text);
    case Format::json:
      return printed(printers.json);
    case Format::markdown:
      return printed(printers.markdown);
    case Format::html:
      return html_page(as_utf8(printers.title), printed(printers.json));
    case Format::sarif:
      return printed(printers.sarif);
    case Format::github:
      return printed(printers.github);
    case Format::csv:
      return printed(printers.csv);
  }
  throw InternalError("unknown Format");
}

}  // namespace shardplan
