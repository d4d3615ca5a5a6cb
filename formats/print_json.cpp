#include <formats/print_json.hpp>
#include <shardplan/spelling.hpp>

namespace shardplan {
namespace {

template <class Json>
Json in_utf8(const Json& value) {
  if (value.is_string()) return as_utf8(value.template get_ref<const std::string&>());
  if (value.is_array()) {
    Json list = Json::array();
    for (const auto& item : value) list.push_back(in_utf8(item));
    return list;
  }
  if (!value.is_object()) return value;
  Json object = Json::object();
  for (const auto& [key, item] : value.items()) object[as_utf8(key)] = in_utf8(item);
  return object;
}

template <class Json>
std::string printed(const Json& document, int indent) try {
  return document.dump(indent);
} catch (const typename Json::type_error&) {  // bytes that are no UTF-8, the only thing it refuses to print
  return in_utf8(document).dump(indent);
}

}  // namespace

std::string print_json(const nlohmann::json& document, int indent) { return printed(document, indent); }
std::string print_json(const nlohmann::ordered_json& document, int indent) { return printed(document, indent); }

}  // namespace shardplan
