// How fast HLO text is read, on one core: a recorded program whose computations are repeated under new names until the
// text is large. peak_MiB is the process's, without the text; it must not grow with the text by more than the names.
#include <benchmark/benchmark.h>
#include <sys/resource.h>
#include <unistd.h>

#include <audit/program_traffic.hpp>
#include <audit/hlo/read_hlo.hpp>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

namespace shardplan {
namespace {

namespace fs = std::filesystem;

std::string recorded_text(const std::string& id) {
  const auto source = open_text(TEST_DATA "/audit/" + id + ".hlo.gz");
  std::string text(std::size_t{8} << 20, '\0');
  std::size_t size = 0;
  while (const std::size_t count = source(text.data() + size, text.size() - size)) size += count;
  text.resize(size);
  return text;
}

/// `text` with "%" in front of names replaced by "%COPY." in every computation before the ENTRY.
std::string renamed(const std::string& text, std::size_t copy) {
  std::string result;
  for (const char c : text) {
    result += c;
    if (c == '%') result += "c" + std::to_string(copy) + ".";
  }
  return result;
}

/// A file of at least `megabytes`, removed at exit.
class LargeProgram {
 public:
  LargeProgram(const std::string& id, std::size_t megabytes)
      : path_(fs::temp_directory_path() / ("shardplan-bench-" + std::to_string(getpid()) + ".hlo")) {
    const std::string text = recorded_text(id);
    const auto first = text.find("\n%"), entry = text.find("\nENTRY");
    std::ofstream file(path_, std::ios::binary);
    file << text.substr(0, first + 1);
    const std::string computations = text.substr(first + 1, entry - first);
    for (std::size_t copy = 0; static_cast<std::size_t>(file.tellp()) < megabytes * 1'000'000; ++copy)
      file << renamed(computations, copy);
    file << text.substr(first + 1);
  }
  ~LargeProgram() { fs::remove(path_); }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

double peak_mebibytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

void read_text(benchmark::State& state, const std::string& id) {
  const LargeProgram program(id, static_cast<std::size_t>(state.range(0)));
  for (auto _ : state) {
    const HloProgram read = read_hlo_file(program.path());
    benchmark::DoNotOptimize(count_traffic(read, mesh_of_program(read)));
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(fs::file_size(program.path())));
  state.counters["peak_MiB"] = peak_mebibytes();
}

void read_gzip(benchmark::State& state, const std::string& id) {
  const std::string path = TEST_DATA "/audit/" + id + ".hlo.gz";
  for (auto _ : state) benchmark::DoNotOptimize(read_hlo_file(path));
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(recorded_text(id).size()));
}

BENCHMARK_CAPTURE(read_text, tpu, "mx7_v5p8_ep8_fix")->Arg(20)->Arg(200)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(read_text, gpu, "h100_ll7_pp2fsdp4")->Arg(20)->Arg(200)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(read_gzip, tpu, "ds16_7x8_ep4fsdp2")->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace shardplan

BENCHMARK_MAIN();
