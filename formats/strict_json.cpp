#include <fmt/format.h>

#include <filesystem>
#include <formats/strict_json.hpp>
#include <fstream>
#include <limits>
#include <map>
#include <mutex>
#include <shardplan/error.hpp>
#include <shardplan/answer/input_files.hpp>
#include <shardplan/spelling.hpp>
#include <sstream>

namespace shardplan {

nlohmann::json parse_json(std::string_view text, std::string_view file) {
  if (text.find_first_not_of(" \t\r\n") == text.npos) throw InputError(fmt::format("{}: the file is empty", file));
  std::vector<std::set<std::string>> open_objects;
  const auto reject_duplicates = [&](int, nlohmann::json::parse_event_t event, nlohmann::json& parsed) {
    if (event == nlohmann::json::parse_event_t::object_start) open_objects.emplace_back();
    if (event == nlohmann::json::parse_event_t::object_end) open_objects.pop_back();
    if (event == nlohmann::json::parse_event_t::key) {
      const auto key = parsed.get<std::string>();
      if (has_control_characters(key)) throw InputError(fmt::format("{}: key '{}' has control characters", file, key));
      if (!open_objects.back().insert(key).second)
        throw InputError(fmt::format("{}: key '{}' occurs twice in one object", file, key));
    }
    return true;
  };
  try {
    constexpr bool throws = true, ignores_comments = true;
    return nlohmann::json::parse(text, reject_duplicates, throws, ignores_comments);
  } catch (const nlohmann::json::parse_error& error) {
    const std::string_view what = error.what();
    const auto colon = what.find("parse error");
    throw InputError(
        fmt::format("{}: not valid JSON: {}", file, what.substr(colon == std::string_view::npos ? 0 : colon)));
  } catch (const nlohmann::json::out_of_range&) {
    throw InputError(fmt::format("{}: a number is beyond what a double holds (1.8e308)", file));
  }
}

bool is_json_path(const std::string& name_or_path) {
  return name_or_path.find('/') != std::string::npos || name_or_path.ends_with(".json");
}

namespace {

std::string_view why_unreadable(const std::string& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) return "it is a folder";
  return std::filesystem::exists(path, error) ? "no permission, or reading fails" : "there is no such file";
}

std::string read_anew(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  std::ostringstream text;
  if (stream.peek() != std::ifstream::traits_type::eof())
    text << stream.rdbuf();  // inserting nothing counts as failure
  if (!stream.is_open() || stream.bad() || !text)
    throw InputError(fmt::format("{}: cannot be read: {}", path, why_unreadable(path)));
  return text.str();
}

/// Of what is no file on a disk.
class PipedTexts {
 public:
  std::string read(const std::string& path) {
    const std::lock_guard lock(mutex_);
    const auto known = texts_.find(path);
    return known != texts_.end() ? known->second : texts_.emplace(path, read_anew(path)).first->second;
  }

 private:
  std::mutex mutex_;
  std::map<std::string, std::string> texts_;
};

bool is_pipe(const std::string& path) {
  std::error_code error;
  const auto type = std::filesystem::status(path, error).type();
  return type == std::filesystem::file_type::fifo || type == std::filesystem::file_type::character ||
         type == std::filesystem::file_type::socket;
}

}  // namespace

std::string read_file(const std::string& path) {
  static PipedTexts piped;
  note_input_file(path);
  return is_pipe(path) ? piped.read(path) : read_anew(path);
}

namespace {

/// Another spelling, or one letter off. More could be another key, which is still to be taken (q_lora_rank, kv_lora_rank).
bool is_slip(std::string_view typed, std::string_view key) {
  constexpr std::size_t shortest = 3;  // letters
  return same_spelling(typed) == same_spelling(key) || (key.size() >= shortest && edit_distance(typed, key) == 1);
}

}  // namespace

StrictObject::StrictObject(const nlohmann::json& value, std::string where) : value_(&value), where_(std::move(where)) {
  if (!value.is_object()) throw InputError(fmt::format("{}: expected an object", where_));
}

bool StrictObject::has(const std::string& key) const { return value_->contains(key); }

bool StrictObject::asks_for(const std::string& key) {
  if (!has(key)) taken_.insert(key);
  return has(key);
}

void StrictObject::fail(const std::string& key, std::string_view expected) const {
  throw InputError(fmt::format("{}: '{}' must be {}", where_, key, expected));
}

std::string StrictObject::checked(const std::string& key, std::string text) const {
  if (has_control_characters(text)) fail(key, fmt::format("one line without control characters, not '{}'", text));
  return text;
}

const nlohmann::json& StrictObject::take(const std::string& key) {
  taken_.insert(key);
  const auto found = value_->find(key);
  if (found != value_->end()) return *found;
  for (const std::string& other : untaken())
    if (is_slip(other, key)) throw InputError(fmt::format("{}: key '{}' is missing; there is '{}'", where_, key, other));
  throw InputError(fmt::format("{}: key '{}' is missing", where_, key));
}

const nlohmann::json& StrictObject::peek(const std::string& key) const { return value_->at(key); }

const nlohmann::json& StrictObject::any(const std::string& key) { return take(key); }

std::string StrictObject::text(const std::string& key) {
  const auto& value = take(key);
  if (!value.is_string()) fail(key, "a string");
  return checked(key, value.get<std::string>());
}

std::string StrictObject::nonempty_text(const std::string& key) {
  std::string value = text(key);
  if (value.empty()) fail(key, "a string that is not empty");
  return value;
}

double StrictObject::number(const std::string& key) {
  const auto& value = take(key);
  if (!value.is_number()) fail(key, "a number");
  return value.get<double>();
}

double StrictObject::number_between(const std::string& key, double least, double most) {
  const double value = number(key);
  if (!(value >= least && value <= most)) fail(key, fmt::format("a number from {} to {}", least, most));
  return value;
}

std::int64_t StrictObject::integer(const std::string& key) {
  const auto& value = take(key);
  if (!value.is_number_integer()) fail(key, "a whole number");
  if (value.is_number_unsigned() && value.get<std::uint64_t>() > std::numeric_limits<std::int64_t>::max())
    fail(key, "a whole number below 2^63");
  return value.get<std::int64_t>();
}

std::int64_t StrictObject::integer_at_least(const std::string& key, std::int64_t least) {
  const std::int64_t value = integer(key);
  if (value < least) fail(key, fmt::format("at least {}", least));
  return value;
}

std::int64_t StrictObject::integer_between(const std::string& key, std::int64_t least, std::int64_t most) {
  const std::int64_t value = integer(key);
  if (value < least || value > most) fail(key, fmt::format("a whole number from {} to {}", least, most));
  return value;
}

int StrictObject::count(const std::string& key, int least) {
  const std::int64_t value = integer_at_least(key, least);
  if (value > std::numeric_limits<int>::max()) fail(key, fmt::format("at most {}", std::numeric_limits<int>::max()));
  return static_cast<int>(value);
}

bool StrictObject::flag(const std::string& key) {
  const auto& value = take(key);
  if (!value.is_boolean()) fail(key, "true or false");
  return value.get<bool>();
}

const nlohmann::json& StrictObject::array(const std::string& key) {
  const auto& value = take(key);
  if (!value.is_array()) fail(key, "a list");
  return value;
}

std::vector<std::string> StrictObject::texts(const std::string& key) {
  std::vector<std::string> all;
  for (const auto& item : array(key)) {
    if (!item.is_string()) fail(key, "a list of strings");
    all.push_back(checked(key, item.get<std::string>()));
  }
  return all;
}

std::vector<std::int64_t> StrictObject::integers(const std::string& key) {
  std::vector<std::int64_t> all;
  for (const auto& item : array(key)) {
    if (!item.is_number_integer()) fail(key, "a list of integers");
    all.push_back(item.get<std::int64_t>());
  }
  return all;
}

StrictObject StrictObject::object(const std::string& key) {
  const auto& value = take(key);
  if (!value.is_object()) fail(key, "an object");
  return {value, where_ + "." + key};
}

std::string StrictObject::text_or(const std::string& key, std::string otherwise) {
  return has(key) ? text(key) : (taken_.insert(key), std::move(otherwise));
}
double StrictObject::number_or(const std::string& key, double otherwise) {
  return has(key) ? number(key) : (taken_.insert(key), otherwise);
}
std::int64_t StrictObject::integer_or(const std::string& key, std::int64_t otherwise) {
  return has(key) ? integer(key) : (taken_.insert(key), otherwise);
}
bool StrictObject::flag_or(const std::string& key, bool otherwise) {
  return has(key) ? flag(key) : (taken_.insert(key), otherwise);
}

std::vector<std::string> StrictObject::untaken() const {
  std::vector<std::string> keys;
  for (const auto& item : value_->items())
    if (!taken_.contains(item.key())) keys.push_back(item.key());
  return keys;
}

void StrictObject::finish() const {
  const std::vector<std::string> known(taken_.begin(), taken_.end());
  for (const auto& item : value_->items())
    if (!taken_.contains(item.key())) throw InputError(where_ + ": " + unknown_name("key", item.key(), known));
}

}  // namespace shardplan
