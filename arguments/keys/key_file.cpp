#include <fmt/format.h>

#include <arguments/keys/key_file.hpp>
#include <arguments/keys/key_members.hpp>
#include <formats/named_value.hpp>
#include <formats/strict_json.hpp>
#include <limits>
#include <shardplan/embedded_file.hpp>
#include <shardplan/error.hpp>

namespace shardplan {

std::span<const EmbeddedFile> embedded_maxtext_keys();

namespace {

template <class Row>
std::vector<Row> read_rows(StrictObject& file, const std::string& role, Row (*read)(StrictObject& object)) {
  std::vector<Row> rows;
  for (const auto& value : file.array(role)) {
    StrictObject object(value, fmt::format("{}: {}[{}]", file.where(), role, rows.size()));
    rows.push_back(read(object));
    object.finish();
  }
  return rows;
}

KeySource read_source(StrictObject object) {
  KeySource source{object.text("repository"), object.text("commit"), object.text("date")};
  object.finish();
  return source;
}

Named read_named(StrictObject& row) {
  using enum Named;
  static constexpr NamedValues<Named, 8> known{{{"always", always},
                                                {"with_experts", with_experts},
                                                {"with_sparse_experts", with_sparse_experts},
                                                {"with_stages", with_stages},
                                                {"with_context", with_context},
                                                {"with_vocabulary_tiles", with_vocabulary_tiles},
                                                {"with_quantization", with_quantization},
                                                {"where_changed", where_changed}}};
  return value_of(known, row, "named");
}

SettingArgument read_setting(StrictObject& row) {
  const std::string key = row.text("key");
  return {key, setting_member(key), row.text("default"), row.number_or("least", 0),
          row.number_or("most", std::numeric_limits<double>::infinity()), read_named(row)};
}

SpecialArgument read_special(StrictObject& row) {
  row.text_or("default", "");  // the code that reads the key knows it; here for refresh_keys.py to watch
  return {row.text("key"), row.text("what"), row.flag_or("in_commands", false)};
}

ModelDimArgument read_model_dim(StrictObject& row) {
  const std::string key = row.text("key");
  return {key, model_dim_member(key), row.integer("default"), row.flag("in_every_model")};
}

ArchitectureArgument read_architecture(StrictObject& row) {
  const std::string key = row.text("key");
  return {key, architecture_member(key), row.text("default")};
}

RematArgument read_remat(StrictObject& row) { return {row.text("key"), row.text("default")}; }

UnmodelledArgument read_unmodelled(StrictObject& row) {
  return {row.text("key"), row.text("default"), row.text("what")};
}

AxisArgument read_axis(StrictObject& row) { return {row.text("axis"), row.text("flag")}; }

IgnoredValues read_values(StrictObject& row) {
  using enum ValueKind;
  static constexpr NamedValues<ValueKind, 4> known{
      {{"flag", flag}, {"integer", integer}, {"number", number}, {"word", word}}};
  IgnoredValues values;
  values.kind = value_of(known, row, "of");
  values.least = row.number_or("least", values.least);
  values.most = row.number_or("most", values.most);
  values.may_be_unset = row.flag_or("unset", false);
  if (values.kind == word) values.words = row.texts("words");
  values.keys = row.texts("keys");
  return values;
}

IgnoredTopic read_topic(StrictObject& row) {
  IgnoredTopic topic{row.text("what"), row.flag("in_commands"), {}, row.texts("keys"), {}, row.text_or("variable", "")};
  if (row.has("values")) topic.values = read_rows(row, "values", read_values);
  for (const IgnoredValues& values : topic.values)
    topic.keys.insert(topic.keys.end(), values.keys.begin(), values.keys.end());
  if (!topic.in_commands) return topic;
  StrictObject defaults = row.object("defaults");
  for (const std::string& key : defaults.untaken()) topic.base_defaults.emplace(key, defaults.text(key));
  return topic;
}

}  // namespace

KeyFile parse_key_file(std::string_view text, const std::string& file) {
  const auto document = parse_json(text, file);
  StrictObject object(document, file);
  KeyFile keys{read_source(object.object("maxtext")),
               read_rows(object, "settings", read_setting),
               read_rows(object, "special", read_special),
               read_rows(object, "model_dims", read_model_dim),
               read_rows(object, "architecture", read_architecture),
               read_rows(object, "remat", read_remat),
               read_rows(object, "unmodelled", read_unmodelled),
               read_rows(object, "axes", read_axis),
               read_rows(object, "ignored", read_topic)};
  object.finish();
  return keys;
}

const KeyFile& key_file() {
  static const KeyFile file = parse_key_file(embedded_maxtext_keys().front().text, "maxtext_keys.json");
  return file;
}

const KeySource& key_source() { return key_file().source; }

std::span<const SettingArgument> setting_arguments() { return key_file().settings; }
std::span<const SpecialArgument> special_arguments() { return key_file().special; }
std::span<const ModelDimArgument> model_dim_arguments() { return key_file().model_dims; }
std::span<const ArchitectureArgument> architecture_arguments() { return key_file().architecture; }
std::span<const RematArgument> remat_arguments() { return key_file().remat; }
std::span<const UnmodelledArgument> unmodelled_arguments() { return key_file().unmodelled; }
std::span<const AxisArgument> axis_arguments() { return key_file().axes; }
std::span<const IgnoredTopic> ignored_topics() { return key_file().ignored; }

}  // namespace shardplan
