// A text that is not whole, or not HLO, is an error with file and line, never half an answer.
#include <gmock/gmock.h>
#include <unistd.h>
#include <zlib.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <shardplan/error.hpp>
#include <sstream>
#include <tests/unit/audit/small_programs.hpp>

namespace shardplan {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::string error_of(const std::string& text) try {
  summary_of(text);
  return "no error";
} catch (const InputError& error) {
  return error.what();
}

const std::string good = program_text("  %x = f32[32]{0} all-gather(%p), replica_groups=[2,4]<=[8], dimensions={0}\n");

TEST(DamagedText, SaysWhere) {
  struct Row {
    std::string text, error;
  };
  for (const auto& [text, error] : {
           Row{"", "test.hlo: the file is empty"},
           Row{"\n\n{\"json\":1}\n", "test.hlo:3: expected HLO text"},
           Row{"HloModule m, num_partitions=0\n", "test.hlo:1: malformed num_partitions="},
           Row{"HloModule m, replica_count=2, num_partitions=2\n", "test.hlo:1: 2 replicas of 2 partitions"},
           Row{"HloModule m\n", "test.hlo:1: the file ends before the ENTRY computation"},
           Row{"HloModule m\n\nwhat is this\n", "test.hlo:3: expected a computation"},
           Row{good + "what is this\n", "test.hlo:8: expected a computation"},
           Row{program_text("  garbage\n"), "test.hlo:5: expected an instruction of computation main"},
           Row{program_text("  %x = f32[8 add(%p)\n"), "test.hlo:5: 'f32[8' is not a shape"},
           Row{program_text("  %x = f33[8] add(%p)\n"), "test.hlo:5: 'f33[8]' is not a shape"},
           Row{program_text("  %x = f32[8]{0}\n"), "test.hlo:5: expected an instruction"},
           Row{program_text("  %x = f32[32] all-gather(%p), dimensions={0}\n"),
               "test.hlo:5: all-gather without replica_groups"},
           Row{program_text("  %x = f32[32] all-gather(%p), replica_groups={{0,9}}\n"),
               "test.hlo:5: device 9 in a program of 8 devices"},
           Row{program_text("  %x = f32[8] collective-permute(%p), channel_id=1\n"),
               "test.hlo:5: collective-permute without source_target_pairs"},
           Row{program_text("  %x = f32[8] ragged-all-to-all(%gone, %p), replica_groups={}\n"),
               "test.hlo:5: operand gone is not defined above"},
           Row{program_text("  %x = f32[8] all-something(%p), replica_groups={}\n"),
               "test.hlo:5: collective 'all-something' is not understood"},
           Row{program_text("  %x = f32[8] fusion(%p), kind=kLoop, calls=%gone\n"),
               "test.hlo:5: x calls gone, which the file doesn't define"},
           Row{program_text("  %x = f32[8] fusion(%p), kind=kLoop\n"), "test.hlo:5: fusion without calls"},
           Row{program_text("", "%c (p: f32[]) -> f32[] {\n  %p = f32[] parameter(0)\n}\n"),
               "test.hlo:5: computation c ends without a ROOT"},
           Row{program_text("", "%main (p: f32[]) -> f32[] {\n  ROOT %p = f32[] parameter(0)\n}\n"),
               "test.hlo:6: computation main for the second time"},
           Row{program_text("  %x = f32[8] fusion(%p), calls=%main\n  %y = f32[8] all-reduce(%p), replica_groups={}\n"),
               "test.hlo: computation main calls itself"},
       })
    EXPECT_THAT(error_of(text), StartsWith(error));
}

TEST(DamagedText, EveryProperPrefixIsAnError) {
  EXPECT_EQ(error_of(good), "no error");
  for (std::size_t size = 0; size + 2 < good.size(); ++size)
    EXPECT_THAT(error_of(good.substr(0, size)), StartsWith("test.hlo:")) << size;
}

TEST(DamagedText, LongLinesAndAMissingLastLineFeedAreFine) {
  const std::string comment(3'000'000, 'x');
  const std::string text = program_text("  %k = f32[8] custom-call(%p), custom_call_target=\"" + comment +
                                        "\"\n  %x = f32[32]{0} all-gather(%p), replica_groups=[2,4]<=[8]\n");
  EXPECT_EQ(summary_of(text.substr(0, text.size() - 1)), "optimizer all-gather tensor of 4, 128 B x 1: \n");
}

std::string recorded(const std::string& name) {
  const auto source = open_text(TEST_DATA "/audit/" + name);
  std::string text(8 << 20, '\0');
  std::size_t size = 0;
  while (const std::size_t count = source(text.data() + size, text.size() - size)) size += count;
  return text.substr(0, size);
}

TEST(DamagedText, ARealProgramCutAnywhereIsAnError) {
  const std::string text = recorded("mi355_mx_ep8_fix.hlo.gz");
  std::mt19937 random(1);
  for (int i = 0; i < 100; ++i) {
    const std::size_t size = random() % (text.size() - 2);
    EXPECT_THROW(read_hlo(lines_of(text.substr(0, size))), InputError) << size;
  }
}

// Of bytes that were changed, some can't be noticed (in a comment); nothing may crash or hang.
TEST(DamagedText, ARealProgramWithWrongBytesIsReadOrRefused) {
  const std::string text = recorded("mi355_mx_ep8_fix.hlo.gz");
  std::mt19937 random(2);
  for (int i = 0; i < 60; ++i) {
    std::string changed = text;
    for (int k = 0; k < 40; ++k) changed[random() % changed.size()] = static_cast<char>(random() % 256);
    try {
      const auto program = read_hlo(lines_of(changed));
      count_traffic(program, Mesh{{{"expert", 8}}});
    } catch (const InputError&) {
    }
  }
}

TEST(DamagedText, ATruncatedGzipFileIsAnError) {
  std::ifstream file(TEST_DATA "/audit/mx7_v5p8_ep8_fix.hlo.gz", std::ios::binary);
  std::stringstream bytes;
  bytes << file.rdbuf();
  const std::string path = fmt::format("{}shardplan-cut-{}.hlo.gz", testing::TempDir(), getpid());
  for (const std::size_t size : {bytes.str().size() / 2, bytes.str().size() - 4}) {
    std::ofstream(path, std::ios::binary) << bytes.str().substr(0, size);
    try {
      read_hlo_file(path);
      ADD_FAILURE() << size;
    } catch (const InputError& error) {
      EXPECT_THAT(error.what(), HasSubstr("damaged or cut off"));
      EXPECT_THAT(error.what(), testing::Not(HasSubstr("after line 0")));
      EXPECT_THAT(error.what(), testing::EndsWith(fmt::format("(unexpected end of file) after line {}",
                                                              std::string(error.what()).substr(
                                                                  std::string(error.what()).rfind(' ') + 1))));
    }
  }
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace shardplan
