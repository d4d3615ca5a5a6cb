#pragma once
// One argument's text as a value, the way MaxText's parser reads it; and back. `place` begins every error.
#include <cstdint>
#include <optional>
#include <shardplan/train_config.hpp>
#include <span>
#include <string>
#include <string_view>

namespace shardplan {

/// True, true, 1, YAML's yes and on, and their opposites; empty of any other word.
std::optional<bool> flag_in(const std::string& text);
/// 1e-4, 10_000; empty of any other word.
std::optional<double> number_in(std::string_view text);
bool parse_flag(const std::string& text, const std::string& place);             ///< flag_in
std::int64_t parse_integer(const std::string& text, const std::string& place);  ///< "2", not "2.0"
double parse_number(const std::string& text, const std::string& place);         ///< finite
DType parse_dtype(const std::string& text, const std::string& place);           ///< "bfloat16"
OptimizerType parse_optimizer(const std::string& text, const std::string& place);  ///< "adamw"
AttentionKernel parse_attention(const std::string& text, const std::string& place);      ///< "cudnn_flash_te"
Quantization parse_quantization(const std::string& text, const std::string& place);  ///< "int8"; None: none
Calibration parse_calibration(const std::string& text, const std::string& place);    ///< "absmax", "fixed,-224,224"
RopeType parse_rope_type(const std::string& text, const std::string& place);                 ///< "yarn"
ContextStrategy parse_context_strategy(const std::string& text, const std::string& place);  ///< "ring"
CustomMesh parse_custom_mesh(const std::string& text, const std::string& place);  ///< "hybrid_ring_64x4"; "": none
SavePlace parse_save_place(const std::string& text, const std::string& place);     ///< "remat", "device", "offload"
std::string parse_word(const std::string& text, std::span<const std::string_view> valid, const std::string& place);

/// What two spellings of the same value have in common: True and true, 1.0 and 1, None and nothing, ['a', 'b'] and a,b.
std::string canonical(std::string_view text);
/// Without what a list or a quoted word has around it.
std::string without_marks(std::string text);

std::string_view print_value(SavePlace place);
std::string print_value(bool value);    ///< "true"
std::string print_value(double value);  ///< shortest that reads back the same: "2", "1.25"

}  // namespace shardplan
