// model_files.json, which refresh_keys.py writes.
#include <algorithm>
#include <arguments/keys/model_files.hpp>
#include <formats/strict_json.hpp>
#include <map>
#include <shardplan/embedded_file.hpp>
#include <span>

namespace shardplan {

std::span<const EmbeddedFile> embedded_model_files();

namespace {

using ModelFile = std::map<std::string, std::string, std::less<>>;
using ModelFiles = std::map<std::string, ModelFile, std::less<>>;

ModelFile read_model_file(StrictObject row) {
  ModelFile file;
  for (const auto& key : row.untaken()) file.emplace(key, row.text(key));
  return file;
}

const ModelFiles& model_files() {
  static const ModelFiles files = [] {
    const auto document = parse_json(embedded_model_files().front().text, "model_files.json");
    StrictObject models(document, "model_files.json");
    ModelFiles all;
    for (const auto& name : models.untaken()) all.emplace(name, read_model_file(models.object(name)));
    return all;
  }();
  return files;
}

}  // namespace

bool has_model_file(const std::string& model) { return model_files().contains(model); }

const std::string* value_in_model_file(const std::string& model, const std::string& key) {
  const auto file = model_files().find(model);
  if (file == model_files().end()) return nullptr;
  const auto value = file->second.find(key);
  return value == file->second.end() ? nullptr : &value->second;
}

ModelFile values_in_model_file(const std::string& model) {
  const auto file = model_files().find(model);
  return file == model_files().end() ? ModelFile{} : file->second;
}

bool scales_logits_where_tied(const std::string& model) {
  const std::string* own = value_in_model_file(model, "normalize_embedding_logits");
  return !own || *own == "true";
}

bool is_in_model_files(const std::string& key) {
  return std::any_of(model_files().begin(), model_files().end(),
                     [&](const auto& file) { return file.second.contains(key); });
}

}  // namespace shardplan
