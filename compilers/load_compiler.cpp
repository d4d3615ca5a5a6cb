#include <fmt/format.h>

#include <algorithm>
#include <compilers/load_compiler.hpp>
#include <compilers/read_flag_tables.hpp>
#include <formats/named_value.hpp>
#include <formats/read_figure.hpp>
#include <shardplan/embedded_file.hpp>
#include <shardplan/error.hpp>

namespace shardplan {

std::span<const EmbeddedFile> embedded_compilers();

namespace {

constexpr int longest_chain = 8;  // of files that are each like the next

/// `place` is where the name stands: "my-xla.json: like".
const EmbeddedFile& built_in(const std::string& name, const std::string& place) {
  for (const EmbeddedFile& file : embedded_compilers())
    if (file.name == name) return file;
  throw InputError(fmt::format("{}: {}", place, unknown_name("compiler", name, compiler_names())));
}

/// What `document` leaves out, from the compiler that it is `like`: entry by entry of habits, kernels, overlap and
/// flags, whole values otherwise: what recipes offer they offer for a machine. Flags are a family's own.
nlohmann::json completed(nlohmann::json document, const std::string& file, int chain) {
  if (!document.is_object() || !document.contains("like")) return document;
  if (chain == longest_chain) throw InputError(file + ": 'like' goes round in a circle");
  const std::string like = StrictObject(document, file).text("like");
  const std::string base_file = like + ".json";
  nlohmann::json base = completed(parse_json(built_in(like, file + ": like").text, base_file), base_file, chain + 1);
  document.erase("like");
  if (document.contains("family"))
    for (const char* key : {"flags", "foreign_flags", "offered_flags", "published_flags", "assumed_flags"})
      base.erase(key);
  for (const auto& [key, value] : document.items()) {
    if (value.is_object() && base.contains(key) && key != "offered_flags")
      base[key].update(value);
    else
      base[key] = value;
  }
  return base;
}

bool concerns_slices(Habit habit) {
  return habit == Habit::all_reduces_over_whole_slices || habit == Habit::gathers_whole_slices_by_all_reduce ||
         habit == Habit::gathers_outer_halves_by_all_reduce;
}

bool concerns_logits(Habit habit) {
  return habit == Habit::overwrites_logits || habit == Habit::overwrites_scaled_logits ||
         habit == Habit::overwrites_capped_logits;
}

bool sums_in_pieces(Habit habit) { return habit == Habit::pads_scattered_rows || habit == Habit::pads_rows_to_tiles; }

SliceSizes read_slice_sizes(StrictObject& object) {
  SliceSizes sizes;
  if (object.has("from_devices")) sizes.from_devices = object.integer("from_devices");
  if (object.has("of_devices")) sizes.of_devices = object.integers("of_devices");
  if (object.has("up_to_bytes")) sizes.up_to = Bytes{object.integer("up_to_bytes")};
  return sizes;
}

double read_waiting_logits(StrictObject& object) {
  const double largest = object.number("words_times_tokens_per_embed");
  if (!(largest > 0)) object.fail("words_times_tokens_per_embed", "above 0");
  return largest;
}

double read_tokens_per_embed(StrictObject& object, const char* key) {
  const double tokens = object.number(key);
  if (!(tokens > 0)) object.fail(key, "above 0");
  return tokens;
}

HeadSizes read_head_sizes(StrictObject& object) {
  HeadSizes sizes;
  if (object.has("tokens_per_embed")) sizes.tokens_per_embed = read_tokens_per_embed(object, "tokens_per_embed");
  if (object.has("tokens_per_embed_of_one_sequence"))
    sizes.of_one_sequence = read_tokens_per_embed(object, "tokens_per_embed_of_one_sequence");
  if (object.has("up_to_sequences")) sizes.up_to_sequences = object.integer_at_least("up_to_sequences", 0);
  return sizes;
}

LargerPieces read_larger_pieces(StrictObject object) {
  LargerPieces pieces{Bytes{object.integer_at_least("scoped_vmem_limit", 1)},
                      Bytes{object.integer_at_least("budget_bytes", 1)}};
  if (object.has("growth")) pieces.growth = object.number("growth");
  if (pieces.growth < 0) object.fail("growth", "0 or more");
  object.finish();
  return pieces;
}

DescribedCompiler with_habit(DescribedCompiler described, Habit habit, StrictObject object) {
  if (object.flag("on")) described.compiler.habits.add(habit);
  Evidence& evidence = described.evidence[habit];
  evidence.source = object.text("source");
  if (evidence.source.empty()) object.fail("source", "how it is known, not empty");
  if (object.has("records")) evidence.records = object.texts("records");
  if (concerns_slices(habit)) described.compiler.slice_sizes[habit] = read_slice_sizes(object);
  if (habit == Habit::all_reduces_indivisible_words && described.compiler.has(habit))
    described.compiler.largest_words_piece = object.integer_at_least("largest_piece", 1);
  if (habit == Habit::computes_loss_value_late && object.has("words_times_tokens_per_embed"))
    described.compiler.largest_waiting_logits = read_waiting_logits(object);
  if (habit == Habit::computes_loss_value_late && object.has("from_devices"))
    described.compiler.slice_sizes[habit] = read_slice_sizes(object);
  if (habit == Habit::keeps_lookup_masks && described.compiler.has(habit))
    described.compiler.smallest_kept_mask = Bytes{object.integer_at_least("from_bytes", 1)};
  if (sums_in_pieces(habit) && described.compiler.has(habit))
    described.compiler.piece_budget = Bytes{object.integer_at_least("budget_bytes", 1)};
  if (sums_in_pieces(habit) && object.has("larger"))
    described.compiler.larger_pieces = read_larger_pieces(object.object("larger"));
  if (concerns_logits(habit) && (object.has("tokens_per_embed") || object.has("tokens_per_embed_of_one_sequence")))
    described.compiler.head_sizes[habit] = read_head_sizes(object);
  object.finish();
  return described;
}

DescribedCompiler with_habits(DescribedCompiler described, StrictObject object) {
  for (const Habit habit : all_habits()) {
    const std::string key(name_of(habit));
    described = with_habit(std::move(described), habit, object.object(key));
  }
  const Compiler& compiler = described.compiler;
  if (compiler.has(Habit::pads_scattered_rows) && compiler.has(Habit::pads_rows_to_tiles))
    object.fail("pads_rows_to_tiles", "off where pads_scattered_rows is on");
  object.finish();
  return described;
}

constexpr NamedValues<AttentionKernel, 5> attention_words{{{"autoselected", AttentionKernel::autoselected},
                                                           {"dot_product", AttentionKernel::dot_product},
                                                           {"flash", AttentionKernel::flash},
                                                           {"cudnn_flash_te", AttentionKernel::cudnn_flash_te},
                                                           {"cudnn_flash_jax", AttentionKernel::cudnn_flash_jax}}};

AttentionKernelSet read_attention_kernels(StrictObject& object, const std::string& key) {
  AttentionKernelSet kernels;
  for (const std::string& name : object.texts(key)) kernels.add(value_named(attention_words, name, object, key));
  return kernels;
}

void check_kernels(const Kernels& kernels, StrictObject& object) {
  if (kernels.grouped_matmul == GroupedMatmul::megablox && !kernels.has_megablox)
    object.fail("grouped_matmul", "ragged_dot where has_megablox is false");
  if (!kernels.attention_kernels.has(kernels.attention)) object.fail("attention", "one of attention_kernels");
  const bool packs = kernels.packed_segments >= 1 || kernels.packed_segments == -1;
  if (!packs) object.fail("packed_segments", "at least 1, or -1 where no kernel needs a number");
  if (kernels.narrow_tiles_from_head_dim < 0) object.fail("narrow_tiles_from_head_dim", "a size; 0 where no heads need it");
}

Kernels read_kernels(StrictObject object) {
  static constexpr NamedValues<GroupedMatmul, 2> grouped{
      {{"megablox", GroupedMatmul::megablox}, {"ragged_dot", GroupedMatmul::ragged_dot}}};
  Kernels kernels;
  kernels.attention = value_of(attention_words, object, "attention");
  kernels.grouped_matmul = value_of(grouped, object, "grouped_matmul");
  kernels.has_megablox = object.flag("has_megablox");
  kernels.has_tokamax_splash = object.flag("has_tokamax_splash");
  kernels.attention_kernels = read_attention_kernels(object, "attention_kernels");
  kernels.sink_kernels = read_attention_kernels(object, "sink_kernels");
  kernels.window_kernels = read_attention_kernels(object, "window_kernels");
  kernels.cap_kernels = read_attention_kernels(object, "cap_kernels");
  kernels.packed_segments = object.integer("packed_segments");
  kernels.narrow_tiles_from_head_dim = object.integer("narrow_tiles_from_head_dim");
  check_kernels(kernels, object);
  object.text("source");
  object.finish();
  return kernels;
}

OverlapRules read_overlap(StrictObject object) {
  OverlapRules rules;
  for (const CollectiveKind kind : read_kinds(object, "asynchronous")) rules.asynchronous.set(kind, true);
  for (const CollectiveKind kind : read_kinds(object, "pipelined")) rules.pipelined.set(kind, true);
  rules.window = object.count("window", 0);
  rules.window_covers_gather = object.flag("window_covers_gather");
  rules.host_copies = read_host_copies(object);
  rules.one_in_flight = object.flag("one_in_flight");
  rules.combines_up_to = {object.count("combines_up_to_bytes", 0)};
  object.text("source");
  object.finish();
  return rules;
}

VectorCost read_vector_cost(StrictObject object) {
  const VectorCost cost{object.number_between("passes", 0, 1e6), object.number_between("operands", 0, 1e6)};
  object.finish();
  return cost;
}

/// {"normalization": {"forward": {"passes": 1, "operands": 1}, "backward": …, "source": "…"}, …}
VectorKernels read_vector_kernels(StrictObject object) {
  VectorKernels kernels;
  kernels.fuses_into_products = object.flag("fuses_into_products");
  for (const VectorKernel kernel : all_vector_kernels()) {
    StrictObject costs = object.object(std::string(name_of(kernel)));
    kernels.of(kernel) = {read_vector_cost(costs.object("forward")), read_vector_cost(costs.object("backward"))};
    costs.text("source");
    costs.finish();
  }
  object.finish();
  return kernels;
}

ScatterCycles::Of read_cycles(StrictObject object) {
  const ScatterCycles::Of cycles{object.number_between("in_vmem", 1e-6, 1e9), object.number_between("sorted", 1e-6, 1e9)};
  if (cycles.sorted < cycles.in_vmem) object.fail("sorted", "at least in_vmem");
  object.finish();
  return cycles;
}

/// {"words": {"in_vmem": 6.7, "sorted": 22.8}, "halves": …, "vmem_bytes": 16777216, "source": "…"}
ScatterCycles read_scatter_cycles(StrictObject object) {
  ScatterCycles cycles{read_cycles(object.object("words")), read_cycles(object.object("halves")),
                       Bytes{object.integer_at_least("vmem_bytes", 1)}};
  object.text("source");
  object.finish();
  return cycles;
}

double read_stage_memory_error(StrictObject object) {
  const double high = object.number("high");
  if (high < 0) object.fail("high", "at least 0");
  object.text("source");
  object.finish();
  return high;
}

std::map<MoePath, MemoryError> read_memory_error(StrictObject object) {
  std::map<MoePath, MemoryError> errors;
  for (const MoePath path : all_moe_paths) {
    StrictObject row = object.object(std::string(name_of(path)));
    MemoryError error{row.number("low"), row.number("high"), row.count("records", 0)};
    if (error.low > 0 || error.low <= -1) row.fail("low", "above -1, at most 0");
    if (error.high < 0) row.fail("high", "at least 0");
    row.finish();
    errors.emplace(path, error);
  }
  object.text("source");
  object.finish();
  return errors;
}

}  // namespace

std::vector<std::string> compiler_names() {
  std::vector<std::string> names;
  for (const EmbeddedFile& file : embedded_compilers()) names.emplace_back(file.name);
  std::sort(names.begin(), names.end());
  return names;
}

DescribedCompiler parse_compiler(std::string_view text, const std::string& file) {
  const nlohmann::json document = completed(parse_json(text, file), file, 0);
  StrictObject object(document, file);
  DescribedCompiler described;
  object.text_or("$schema", "");  // for editors
  described.compiler.name = object.nonempty_text("name");
  described.compiler.family = object.text("family");
  described.description = object.text("description");
  described = with_habits(std::move(described), object.object("habits"));
  described.compiler.kernels = read_kernels(object.object("kernels"));
  described.compiler.vector_kernels = read_vector_kernels(object.object("vector_kernels"));
  if (object.has("scatter_cycles"))
    described.compiler.scatter_cycles = read_scatter_cycles(object.object("scatter_cycles"));
  described.compiler.overlap = read_overlap(object.object("overlap"));
  described.compiler.memory_error = read_memory_error(object.object("memory_error"));
  if (object.has("stage_memory_error"))
    described.compiler.stage_memory_error = read_stage_memory_error(object.object("stage_memory_error"));
  if (object.has("flags")) described.flags = read_flags(object.any("flags"), file + ".flags");
  if (object.has("foreign_flags")) described.compiler.foreign_flags = read_foreign(object.object("foreign_flags"));
  if (object.has("offered_flags"))
    described.compiler.offered = read_offered(object.any("offered_flags"), file + ".offered_flags", described.flags);
  if (object.has("published_flags"))
    described.compiler.published = read_published(object, "published_flags", described.flags);
  if (object.has("assumed_flags"))
    described.compiler.assumed = read_assumed(object, "assumed_flags", described.flags);
  object.finish();
  return described;
}

namespace {

/// `owner`: whose compiler it is.
DescribedCompiler described_of(const std::string& owner, const std::string& name_or_path) {
  if (is_json_path(name_or_path)) return parse_compiler(read_file(name_or_path), name_or_path);
  const std::string place = fmt::format("compiler of {} (a name, or the path of a file that ends in .json)", owner);
  return parse_compiler(built_in(name_or_path, place).text, name_or_path + ".json");
}

}  // namespace

DescribedCompiler describe_compiler(const std::string& name_or_path) {
  return described_of("the machine's profile", name_or_path);
}

Compiler load_compiler(const std::string& name_or_path) { return describe_compiler(name_or_path).compiler; }

Compiler load_compiler(const std::string& name_or_path, std::string_view xla_flags) {
  DescribedCompiler described = describe_compiler(name_or_path);
  return with_flags(described.compiler, described.flags, xla_flags);
}

Compiler compiler_of(const HardwareProfile& machine, std::string_view xla_flags) {
  const std::string profile = machine.name + "'s profile";
  DescribedCompiler described = described_of(profile, machine.compiler);
  const MaxtextHardware hardware = machine.launch.hardware;
  const bool for_tpus = described.compiler.kernels.has_megablox;
  if (hardware != MaxtextHardware::none && (hardware == MaxtextHardware::tpu) != for_tpus)
    throw InputError(fmt::format("{}: launch.maxtext_hardware is {}, and its compiler {} is one for {}", profile,
                                 for_tpus ? "gpu" : "tpu", machine.compiler, for_tpus ? "TPUs" : "GPUs"));
  return with_flags(described.compiler, described.flags, xla_flags);
}

}  // namespace shardplan
