// Records are read strictly: what is missing, misspelt or of another type is one line that says where.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <planner/validate/recorded_program.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::string compiled = R"({"schema_version": 1, "id": "toy",
 "arguments": {"model_name": "llama2-7b", "ici_fsdp_parallelism": "8"},
 "hardware": {"name": "h100", "chips": 8, "slices": 1},
 "mesh": {"data": 1, "fsdp": 8},
 "collectives": [{"phase": "forward", "kind": "all-gather", "axes": ["fsdp"], "group_size": 8, "bytes": 1000,
   "executions": 32}],
 "memory": {"arguments_bytes": 10, "peak_bytes": 30}})";

std::string with(const std::string& from, const std::string& to) {
  std::string text = compiled;
  const auto place = text.find(from);
  if (place == std::string::npos) throw InternalError("test: no '" + from + "'");
  return text.replace(place, from.size(), to);
}

TEST(RecordedProgram, IsRead) {
  const RecordedProgram record = parse_record(compiled, "toy.json");
  EXPECT_EQ(record.id, "toy");
  EXPECT_THAT(record.arguments, ElementsAre("ici_fsdp_parallelism=8", "model_name=llama2-7b", "compile_xla_flags=none"));
  EXPECT_EQ(record.machine.hardware, "h100");
  EXPECT_EQ(record.machine.chips, 8);
  EXPECT_EQ(record.mesh.at("fsdp"), 8);
  ASSERT_EQ(record.collectives.size(), 1);
  const RecordedCollective& gather = record.collectives.front();
  EXPECT_EQ(gather.phase, Phase::forward);
  EXPECT_EQ(gather.kind, CollectiveKind::all_gather);
  EXPECT_THAT(gather.axes, ElementsAre("fsdp"));
  EXPECT_EQ(gather.bytes, Bytes{1000});
  EXPECT_EQ(gather.executions, 32);
  EXPECT_EQ(record.memory->peak, Bytes{30});
}

// Errors are shares of what was recorded: of nothing there are none.
TEST(RecordedProgram, OfSeveralDevicesMovesSomething) {
  const std::string moved = R"([{"phase": "forward", "kind": "all-gather", "axes": ["fsdp"], "group_size": 8, "bytes": 1000,
   "executions": 32}])";
  const std::string none = with(moved, "[]");
  try {
    parse_record(none, "toy.json");
    FAIL() << "a record of a program that moves nothing was taken";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("toy.json: 'collectives' must be what the program moves: on 8 devices"));
  }
  std::string alone = none;
  alone.replace(alone.find("\"fsdp\": 8}"), 10, "\"fsdp\": 1}");
  EXPECT_TRUE(parse_record(alone, "toy.json").collectives.empty());
}

TEST(RecordedProgram, IsTrainCompilesUnlessItSaysOtherwise) {
  EXPECT_EQ(parse_record(compiled, "toy.json").machine.program, StepProgram::train_compile);
  const auto said = [](const std::string& program) {
    return with(R"("id": "toy")", R"("id": "toy", "program": ")" + program + "\"");
  };
  EXPECT_EQ(parse_record(said("train"), "toy.json").machine.program, StepProgram::train);
  EXPECT_THROW(parse_record(said("eval"), "toy.json"), InputError);
}

TEST(RecordedProgram, ThatTheCompilerRefusedHasNoMemory) {
  const auto refused = parse_record(
      R"({"schema_version": 1, "id": "toy", "arguments": {}, "mesh": {"fsdp": 8},
          "out_of_memory": {"required_temporaries_gib": 142.63, "available_gib": 95.73}, "error": "RESOURCE_EXHAUSTED"})",
      "toy.json");
  EXPECT_FALSE(refused.memory);
  EXPECT_TRUE(refused.collectives.empty());
  EXPECT_FALSE(refused.machine.hardware);
}

TEST(RecordedProgram, MayCarryTheRestOfTheRecording) {
  EXPECT_NO_THROW(parse_record(
      with(R"("executions": 32)", R"("executions": 32, "op": "transpose", "shapes": ["bf16[2]"])"), "toy.json"));
  EXPECT_NO_THROW(
      parse_record(with(R"("id": "toy")", R"("id": "toy", "state": {}, "config": {}, "devices": 8)"), "toy.json"));
}

struct Mistake {
  const char *from, *to, *complaint;
};

TEST(RecordedProgram, MistakesAreNamed) {
  const Mistake mistakes[] = {
      {R"("schema_version": 1)", R"("schema_version": 2)", "toy.json: 'schema_version' must be 1"},
      {R"("id": "toy",)", "", "toy.json: key 'id' is missing"},
      {R"("id": "toy")", R"("id": "toy", "id": "toy")", "key 'id' occurs twice"},
      {R"("mesh")", R"("mash")", "key 'mesh' is missing"},
      {R"("ici_fsdp_parallelism": "8")", R"("ici_fsdp_parallelism": 8)",
       "toy.json.arguments: 'ici_fsdp_parallelism' must be a string"},
      {R"("fsdp": 8})", R"("fsdp": 0})", "toy.json.mesh: 'fsdp' must be at least 1"},
      {"forward", "foreward", "unknown phase 'foreward'; nearest: forward"},
      {"all-gather", "allgather", "unknown kind of collective 'allgather'; nearest: all-gather"},
      {R"("bytes": 1000)", R"("bytes": 1000.5)", "toy.json.collectives[0]: 'bytes' must be a whole number"},
      {R"("bytes": 1000)", R"("bytes": -1)", "'bytes' must be at least 0"},
      {R"("executions": 32)", R"("executions": 0)", "'executions' must be at least 1"},
      {R"("executions": 32)", R"("executions": 32, "colour": 1)", "toy.json.collectives[0]: unknown key 'colour'"},
      {R"("peak_bytes": 30)", R"("peak_byte": 30)", "key 'peak_bytes' is missing"},
      {R"("slices": 1)", R"("slices": "1")", "toy.json.hardware: 'slices' must be a whole number"},
      {R"("memory": {)", R"("memory": [{)", "not valid JSON"},
  };
  for (const auto& [from, to, complaint] : mistakes) {
    SCOPED_TRACE(std::string(from) + " -> " + to);
    try {
      parse_record(with(from, to), "toy.json");
      ADD_FAILURE() << "was read";
    } catch (const InputError& error) {
      EXPECT_THAT(error.what(), HasSubstr(complaint));
      EXPECT_THAT(error.what(), HasSubstr("toy.json"));
    }
  }
}

TEST(RecordedProgram, ThatCannotBeReadIsNamed) { EXPECT_THROW(read_record("/nowhere/toy.json"), InputError); }

TEST(RecordedProgram, BuiltInOnesHaveDifferentIds) {
  std::map<std::string, int> times;
  for (const auto& record : built_in_records()) EXPECT_EQ(++times[record.id], 1) << record.id;
  EXPECT_GE(times.size(), 34);
}

}  // namespace
}  // namespace shardplan
