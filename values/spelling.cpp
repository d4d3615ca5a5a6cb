#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <shardplan/spelling.hpp>
#include <utility>

namespace shardplan {
namespace {

/// How a word is known elsewhere (Megatron-LM, DeepSpeed, torchtitan, Slurm, NeMo, MaxText's own flags) → here.
constexpr std::pair<std::string_view, std::string_view> synonyms[] = {
    // Mesh axes.
    {"ep", "expert"},
    {"expertparallel", "expert"},
    {"pp", "stage"},
    {"pipe", "stage"},
    {"pipeline", "stage"},
    {"pipelineparallel", "stage"},
    {"tp", "tensor"},
    {"model", "tensor"},
    {"mp", "tensor"},
    {"tensorparallel", "tensor"},
    {"cp", "context"},
    {"sp", "context"},
    {"sequence", "context"},
    {"ring", "context"},
    {"contextparallel", "context"},
    {"dp", "data"},
    {"ddp", "data"},
    {"replica", "data"},
    {"dataparallel", "data"},
    {"zero", "fsdp"},
    {"zero3", "fsdp"},
    {"dpshard", "fsdp"},
    // Flags.
    {"ep", "mesh"},
    {"pp", "mesh"},
    {"tp", "mesh"},
    {"cp", "mesh"},
    {"dp", "mesh"},
    {"hw", "hardware"},
    {"machine", "hardware"},
    {"machines", "hardware"},
    {"accelerator", "hardware"},
    {"topology", "hardware"},
    {"gpu", "hardware"},
    {"tpu", "hardware"},
    {"gpus", "chips"},
    {"ngpus", "chips"},
    {"tpus", "chips"},
    {"devices", "chips"},
    {"numchips", "chips"},
    {"numdevices", "chips"},
    {"worldsize", "chips"},
    {"nodes", "slices"},
    {"nnodes", "slices"},
    {"hosts", "slices"},
    {"pods", "slices"},
    {"numslices", "slices"},
    {"seq", "seq-len"},
    {"sequence", "seq-len"},
    {"sequencelength", "seq-len"},
    {"contextlength", "seq-len"},
    {"ctx", "seq-len"},
    {"maxtargetlength", "seq-len"},
    {"batch", "per-device-batch"},
    {"batchsize", "per-device-batch"},
    {"bs", "per-device-batch"},
    {"mbs", "per-device-batch"},
    {"perdevicebatchsize", "per-device-batch"},
    {"gbs", "global-batch-tokens"},
    {"globalbatch", "global-batch-tokens"},
    {"globalbatchsize", "global-batch-tokens"},
    {"tokens", "global-batch-tokens"},
    {"opt", "optimizer"},
    {"opttype", "optimizer"},
    {"rematpolicy", "remat"},
    {"recompute", "remat"},
    {"checkpointing", "remat"},
    {"goal", "objective"},
    {"alternatives", "top"},
    {"yaml", "config"},
    {"modelname", "model"},
    {"custommeshandrule", "rules"},
    // Words that some flags take.
    {"dropless", "ragged"},
    {"sparse", "ragged"},
    {"capacity", "dropping"},
    {"speed", "throughput"},
    {"time", "throughput"},
    {"fast", "throughput"},
    {"hbm", "memory"},
    {"price", "cost"},
    {"dollars", "cost"},
    // Commands.
    {"search", "plan"},
    {"recommend", "plan"},
    {"optimize", "plan"},
    {"estimate", "explain"},
    {"cost", "explain"},
    {"predict", "explain"},
    {"lint", "check"},
    {"verify", "check"},
    // MaxText's arguments.
    {"ep", "ici_expert_parallelism"},
    {"pp", "ici_pipeline_parallelism"},
    {"tp", "ici_tensor_parallelism"},
    {"cp", "ici_context_parallelism"},
    {"dp", "ici_data_parallelism"},
    {"gbs", "per_device_batch_size"},
    {"globalbatchsize", "per_device_batch_size"},
    {"globalbatch", "per_device_batch_size"},
    {"mbs", "per_device_batch_size"},
    {"microbatchsize", "per_device_batch_size"},
    {"bs", "per_device_batch_size"},
    {"batchsize", "per_device_batch_size"},
    {"seq", "max_target_length"},
    {"seqlen", "max_target_length"},
    {"sequencelength", "max_target_length"},
    {"ctx", "max_target_length"},
    {"fsdpshardonexp", "shard_exp_on_fsdp"},  // until 2026
};

/// The length of the UTF-8 character that begins at `at`; 0 where none does.
std::size_t character_at(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(at);
  const std::size_t length = first < 0x80   ? 1
                             : first < 0xC2 ? 0
                             : first < 0xE0 ? 2
                             : first < 0xF0 ? 3
                             : first < 0xF5 ? 4
                                            : 0;
  if (length == 0 || at + length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((byte(at + i) & 0xC0U) != 0x80U) return 0;
  return length;
}

bool is_control(std::string_view character) {
  const auto first = static_cast<unsigned char>(character.front());
  const bool c1 = character.size() == 2 && first == 0xC2 && static_cast<unsigned char>(character[1]) < 0xA0;
  return first < 0x20 || first == 0x7F || c1;
}

std::string escaped(std::string_view bytes) {
  std::string text;
  for (const char byte : bytes) text += fmt::format("\\x{:02x}", static_cast<unsigned>(static_cast<unsigned char>(byte)));
  return text;
}

}  // namespace

std::string lower_case(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  return lower;
}

std::string same_spelling(std::string_view name) {
  std::string same;
  for (const unsigned char letter : name)
    if (std::isalnum(letter)) same += static_cast<char>(std::tolower(letter));
  return same;
}

std::vector<std::string_view> synonyms_of(std::string_view word) {
  std::vector<std::string_view> found;
  const std::string spelled = same_spelling(word);
  for (const auto& [theirs, ours] : synonyms)
    if (theirs == spelled) found.push_back(ours);
  return found;
}

std::string as_utf8(std::string_view text) {
  std::string valid;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = character_at(text, at);
    const std::string_view character = text.substr(at, std::max<std::size_t>(1, length));
    valid += length == 0 ? escaped(character) : std::string(character);
    at += character.size();
  }
  return valid;
}

bool has_control_characters(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view character = text.substr(at, std::max<std::size_t>(1, character_at(text, at)));
    if (is_control(character)) return true;
    at += character.size();
  }
  return false;
}

std::string printable(std::string_view text, std::size_t most) {
  std::string line;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = character_at(text, at);
    const std::string_view character = text.substr(at, std::max<std::size_t>(1, length));
    const std::string shown =
        length == 0 || is_control(character) ? escaped(character) : std::string(character);
    if (line.size() + shown.size() > most) return line + "…";
    line += shown;
    at += character.size();
  }
  return line;
}

}  // namespace shardplan
