#include <gmock/gmock.h>

#include <fstream>
#include <hardware/load_profile.hpp>
#include <nlohmann/json.hpp>
#include <shardplan/error.hpp>

#include "../own_folder.hpp"

namespace shardplan {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

/// toy-torus with one passage of its text replaced.
std::string edited(const std::string& passage, const std::string& replacement) {
  std::string text = profile_json("toy-torus");
  const auto at = text.find(passage);
  if (at == std::string::npos) throw std::logic_error("the toy has no passage " + passage);
  return text.replace(at, passage.size(), replacement);
}

TEST(LoadProfile, NamesComeInDisplayOrder) {
  EXPECT_THAT(default_profile_names(), ElementsAre("tpu-v5p", "tpu-v6e", "tpu-7x", "mi355x", "h100"));
  EXPECT_THAT(profile_names(), ElementsAre("tpu-v5p", "tpu-v6e", "tpu-7x", "mi355x", "h100", "b200", "h200", "mi300x",
                                           "tpu-v4", "tpu-v5e"));
  EXPECT_THAT(toy_profile_names(), ElementsAre("toy-mesh", "toy-spine", "toy-switch", "toy-torus", "toy-two-core"));
}

TEST(LoadProfile, ConvertsToSi) {
  const auto v5p = load_profile("tpu-v5p");
  EXPECT_EQ(v5p.fabric, FabricKind::torus);
  EXPECT_DOUBLE_EQ(v5p.peak_bf16.value, 459e12);
  EXPECT_DOUBLE_EQ(v5p.hbm_capacity.value, 95.73 * 1024 * 1024 * 1024);
  EXPECT_EQ(v5p.hbm_capacity.unit, "GiB");
  EXPECT_EQ(v5p.hbm_capacity.basis, Basis::measured);
  EXPECT_DOUBLE_EQ(v5p.link_bandwidth.value, 100e9);
  EXPECT_DOUBLE_EQ(v5p.scale_out_bandwidth.value, 6.25e9);
  EXPECT_DOUBLE_EQ(v5p.hop_latency->value, 1e-6);
  EXPECT_EQ(v5p.compiler, "xla-tpu-v5p");
  EXPECT_EQ(v5p.launch.hardware, MaxtextHardware::tpu);
  EXPECT_TRUE(v5p.launch.compile_topology);
}

TEST(LoadProfile, TakesWhatFusedWorkAdds) {
  nlohmann::json profile = nlohmann::json::parse(profile_json("tpu-v6e"));
  const auto loaded = [&] {
    const std::string file = own_folder() + "fused.json";
    std::ofstream(file) << profile.dump();
    return load_profile(file).product_tables.front().fused_share;
  };
  profile["matmul_shares"][0].erase("fused_share");
  EXPECT_DOUBLE_EQ(loaded(), 1) << "all that it takes alone";
  profile["matmul_shares"][0]["fused_share"] = 0.25;
  EXPECT_DOUBLE_EQ(loaded(), 0.25);
  profile["matmul_shares"][0]["fused_share"] = -0.1;
  EXPECT_THAT(loaded, ThrowsMessage<InputError>(HasSubstr("from 0 to 10")));
}

TEST(LoadProfile, TakesPowerStates) {
  nlohmann::json profile = nlohmann::json::parse(profile_json("tpu-7x"));
  const HardwareProfile machine = parse_profile(profile.dump(), "mine.json");
  ASSERT_TRUE(machine.power_states);
  EXPECT_EQ(machine.power_states->by_default, 3);
  EXPECT_LT(machine.power_states->default_clock().value, machine.clock->value);
  EXPECT_FALSE(load_profile("tpu-v6e").power_states);
  const auto refused = [&](const nlohmann::json& states) {
    profile["power_states"] = states;
    try {
      parse_profile(profile.dump(), "mine.json");
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  const nlohmann::json states = profile["power_states"], slow = states["clocks"][0], fast = states["clocks"][1];
  EXPECT_EQ(refused(states), "");
  EXPECT_THAT(refused({{"default", 3}, {"clocks", {slow}}}), HasSubstr("'clocks' must be two states at least"));
  EXPECT_THAT(refused({{"default", 3}, {"clocks", {fast, slow}}}), HasSubstr("'clocks' must be states in ascending order"));
  EXPECT_THAT(refused({{"default", 4}, {"clocks", {slow, fast}}}), HasSubstr("'default' must be a state of clocks"));
}

// What is computed from it would blame --reserve-hbm.
TEST(LoadProfile, RefusesFiguresThatNoMachineHas) {
  nlohmann::json profile = nlohmann::json::parse(profile_json("toy-torus"));
  for (const auto& [key, most] : {std::pair("hbm_capacity", "at most 1 PB"), {"hbm_bandwidth", "at most 100 PB/s"},
                                  {"peak_bf16", "at most 100 EFLOP/s"}, {"hop_latency", "at most an hour"}}) {
    nlohmann::json wrong = profile;
    wrong[key]["value"] = 1e300;
    const std::string file = own_folder() + "wrong.json";
    std::ofstream(file) << wrong.dump();
    EXPECT_THAT([&] { load_profile(file); },
                ThrowsMessage<InputError>(testing::AllOf(HasSubstr("wrong.json"), HasSubstr(key), HasSubstr(most))));
  }
}

// A link of 450 B/s, where GB/s were meant: steps of years, and rates that round to none.
TEST(LoadProfile, RefusesRatesThatNoMachineIsSlowEnoughFor) {
  nlohmann::json profile = nlohmann::json::parse(profile_json("toy-torus"));
  for (const auto& [key, least] : {std::pair("hbm_capacity", "at least 1 MB"), {"link_bandwidth", "at least 1 MB/s"},
                                   {"scale_out_bandwidth", "at least 1 MB/s"}, {"peak_bf16", "at least 1 GFLOP/s"}}) {
    nlohmann::json wrong = profile;
    wrong[key]["value"] = 1e-10;
    const std::string file = own_folder() + "slow.json";
    std::ofstream(file) << wrong.dump();
    EXPECT_THAT([&] { load_profile(file); },
                ThrowsMessage<InputError>(testing::AllOf(HasSubstr("slow.json"), HasSubstr(key), HasSubstr(least))));
  }
}

/// Every figure of every machine says where it comes from; an assumed one from what.
TEST(LoadProfile, EveryFigureHasASource) {
  for (const std::string& name : profile_names()) {
    const auto p = load_profile(name);
    EXPECT_EQ(p.name, name);
    std::vector<Figure> figures{
        p.peak_bf16,           p.hbm_capacity,         p.hbm_bandwidth,    p.matmul_efficiency, p.attention_efficiency,
        p.hbm_efficiency,      p.link_bandwidth,       p.link_efficiency,  *p.hop_latency,      *p.collective_latency,
        p.scale_out_bandwidth, p.scale_out_efficiency, p.scale_out_latency};
    for (const Figure& figure : figures) {
      EXPECT_GT(figure.source.size(), 5U) << name;
      const bool says_from_what =
          figure.source.find("assumed") != std::string::npos || figure.source.find("taken as") != std::string::npos ||
          figure.source.find("constant of") != std::string::npos || figure.source.find("Primus") != std::string::npos;
      EXPECT_TRUE(figure.basis != Basis::assumed || says_from_what) << name << ": " << figure.source;
    }
    EXPECT_FALSE(p.slices.empty()) << name;
  }
}

TEST(LoadProfile, MachinesDifferWhereTheyShould) {
  const struct {
    const char* name;
    FabricKind fabric;
    int devices_per_chip, chips_per_node;
    double peak_bf16, hbm_bandwidth, link;
  } rows[] = {
      {"tpu-v5p", FabricKind::torus, 1, 4, 459e12, 2765e9, 100e9},
      {"tpu-v6e", FabricKind::torus, 1, 8, 918e12, 1638e9, 100e9},
      {"tpu-7x", FabricKind::torus, 2, 4, 1153.5e12, 3690e9, 100e9},
      {"tpu-v5e", FabricKind::torus, 1, 8, 197e12, 810e9, 50e9},
      {"tpu-v4", FabricKind::torus, 1, 4, 275e12, 1200e9, 50e9},
      {"mi355x", FabricKind::full_mesh, 1, 8, 2500e12, 8000e9, 76.8e9},
      {"mi300x", FabricKind::full_mesh, 1, 8, 1307.4e12, 5300e9, 64e9},
      {"h100", FabricKind::switched, 1, 8, 989e12, 3350e9, 450e9},
      {"h200", FabricKind::switched, 1, 8, 989e12, 4800e9, 450e9},
      {"b200", FabricKind::switched, 1, 8, 2250e12, 8000e9, 900e9},
  };
  for (const auto& row : rows) {
    const auto p = load_profile(row.name);
    EXPECT_EQ(p.fabric, row.fabric) << row.name;
    EXPECT_EQ(p.devices_per_chip, row.devices_per_chip) << row.name;
    EXPECT_EQ(p.chips_per_node, row.chips_per_node) << row.name;
    EXPECT_DOUBLE_EQ(p.peak_bf16.value, row.peak_bf16) << row.name;
    EXPECT_DOUBLE_EQ(p.hbm_bandwidth.value, row.hbm_bandwidth) << row.name;
    EXPECT_DOUBLE_EQ(p.link_bandwidth.value, row.link) << row.name;
  }
}

TEST(LoadProfile, RejectsWrongFilesInOneLine) {
  const struct {
    const char *passage, *replacement, *message;
  } rows[] = {
      {"\"hop_latency\":", "\"hop_latncy\":", "key 'hop_latency' is missing; there is 'hop_latncy'"},
      {"\"hbm_bandwidth\": {\"value\": 1000", "\"hbm_bandwidth\": 1000, \"x\": {\"value\": 1000",
       "mine.json: 'hbm_bandwidth' must be an object with value, unit, source and basis"},
      {"\"fabric\": \"torus\",", "\"fabric\": \"torus\", \"colour\": 1,", "mine.json: unknown key 'colour'"},
      {"\"fabric\": \"torus\",", "\"fabric\": \"torus\", \"fabric\": \"torus\",", "key 'fabric' occurs twice"},
      {"\"fabric\": \"torus\"", "\"fabric\": \"tours\"", "unknown fabric 'tours'; nearest: torus"},
      {"\"unit\": \"TFLOP/s\"", "\"unit\": \"TFLOPS\"",
       "mine.json.peak_bf16: unknown unit 'TFLOPS'; expected a compute rate, as in TFLOP/s"},
      {"\"unit\": \"TFLOP/s\"", "\"unit\": \"GB\"",
       "mine.json.peak_bf16: unit 'GB' does not fit; expected a compute rate"},
      {"\"value\": 100, \"unit\": \"TFLOP/s\", \"source\": \"toy: a round number\"",
       "\"value\": 100, \"unit\": \"TFLOP/s\"", "mine.json.peak_bf16: key 'source' is missing"},
      {"\"value\": 100, \"unit\": \"TFLOP/s\", \"source\": \"toy: a round number\"",
       "\"value\": 100, \"unit\": \"TFLOP/s\", \"source\": \"\"", "'source' must be where the number comes from"},
      {"\"basis\": \"assumed\"", "\"basis\": \"guessed\"", "unknown basis 'guessed'"},
      {"\"value\": 100, \"unit\": \"TFLOP/s\"", "\"value\": \"100\", \"unit\": \"TFLOP/s\"",
       "'value' must be a number"},
      {"\"value\": 100, \"unit\": \"TFLOP/s\"", "\"value\": -1, \"unit\": \"TFLOP/s\"", "'value' must be above 0"},
      {"\"value\": 1, \"unit\": \"1\"", "\"value\": 90, \"unit\": \"1\"", "must be a share of at most 1"},
      {"\"value\": 1, \"unit\": \"devices\"", "\"value\": 1.5, \"unit\": \"devices\"",
       "'devices_per_chip' must be a whole number"},
      {"\"value\": 1, \"unit\": \"devices\"", "\"value\": 2, \"unit\": \"devices\"",
       "'die_to_die_bandwidth' must be given"},
      {"\"2x2x1\"", "\"2x2x\"", "'shapes' must be shapes of up to three dims"},
      {"\"2x2x1\"", "\"2x0x1\"", "'shapes' must be shapes of up to three dims"},
      {"\"2x2x1\"", "\"2x2x2x2\"", "'shapes' must be shapes of up to three dims"},
      {"\"hop_latency\":",
       "\"exchange_efficiency\": {\"value\": 0.9, \"unit\": \"1\", \"source\": \"toy\", \"basis\": \"assumed\"}, "
       "\"hop_latency\":",
       "'exchange_efficiency' must be none on a torus"},
      {"\"compiler\": \"plain\"", "\"compiler\": {\"name\": \"none\"}",
       "'compiler' must be the name of a compiler, as in \"xla-gpu\", or the path of its file, where its habits are now"},
      {"\"maxtext_hardware\": \"tpu\"", "\"maxtext_hardware\": \"cpu\"", "unknown maxtext_hardware 'cpu'"},
      {"\"maxtext_hardware\": \"tpu\"", "\"maxtext_hardware\": \"none\"",
       "'compile_topology' must be false: MaxText does not run on this machine"},
      {"\"name\": \"toy-torus\"", "\"name\" \"toy-torus\"", "mine.json: not valid JSON"},
      {"\"name\": \"toy-torus\"", "\"name\": \"\"", "mine.json: 'name' must be a string that is not empty"},
  };
  for (const auto& row : rows)
    EXPECT_THAT([&] { parse_profile(edited(row.passage, row.replacement), "mine.json"); },
                ThrowsMessage<InputError>(HasSubstr(row.message)))
        << row.replacement;
}

TEST(LoadProfile, OnlyATorusHasJointRings) {
  const std::string key =
      R"("joint_ring_efficiency": {"value": 0.5, "unit": "1", "source": "toy: a round number", "basis": "assumed"}, )";
  const HardwareProfile torus = parse_profile(edited("\"fabric\":", key + "\"fabric\":"), "mine.json");
  EXPECT_DOUBLE_EQ(torus.joint_ring_efficiency->value, 0.5);
  const std::string mesh = edited("\"fabric\": \"torus\"", key + "\"fabric\": \"full_mesh\"");
  EXPECT_THAT([&] { parse_profile(mesh, "mine.json"); },
              ThrowsMessage<InputError>(HasSubstr("'joint_ring_efficiency' must be given for a torus alone")));
}

// They have latencies of their own, and the machine's would be read by nothing.
TEST(LoadProfile, ProtocolsStandInPlaceOfTheLatencies) {
  const std::string second = R"({"value": 1, "unit": "us", "source": "toy: a round number", "basis": "assumed"})";
  const std::string share = R"({"value": 1, "unit": "1", "source": "toy: a round number", "basis": "assumed"})";
  const std::string protocols = R"("protocols": [{"name": "LL", "base_latency": )" + second + R"(, "step_latency": )" +
                                second + R"(, "bandwidth_share": )" + share + "}],";
  nlohmann::json profile = nlohmann::json::parse(edited("\"fabric\":", protocols + "\"fabric\":"));
  EXPECT_THAT([&] { parse_profile(profile.dump(), "mine.json"); },
              ThrowsMessage<InputError>(HasSubstr("'collective_latency' must be left out: protocols stand in its place")));
  profile.erase("collective_latency");
  EXPECT_THAT([&] { parse_profile(profile.dump(), "mine.json"); },
              ThrowsMessage<InputError>(HasSubstr("'hop_latency' must be left out")));
  profile.erase("hop_latency");
  const HardwareProfile machine = parse_profile(profile.dump(), "mine.json");
  EXPECT_EQ(machine.protocols.size(), 1U);
  EXPECT_FALSE(machine.hop_latency || machine.collective_latency);
}

/// What a built-in profile says with `value` at the JSON pointer `key` of one of its objects; "": it loads.
std::string message_of_changed(const char* name, const char* object, const char* key, const nlohmann::json& value) {
  nlohmann::json changed = nlohmann::json::parse(profile_json(name));
  changed[object][nlohmann::json::json_pointer(key)] = value;
  try {
    parse_profile(changed.dump(), "mine.json");
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(LoadProfile, SplashCyclesAreThoseOfEveryKernel) {
  const nlohmann::json v6e = nlohmann::json::parse(profile_json("tpu-v6e"));
  const auto message_of = [](const char* key, const nlohmann::json& value) {
    return message_of_changed("tpu-v6e", "splash_cycles", key, value);
  };
  EXPECT_EQ(message_of("/cores", 1), "");
  EXPECT_THAT(message_of("/cores", 0), HasSubstr("'cores' must be at least 1"));
  EXPECT_THAT(message_of("/keys", {2048, 512}), HasSubstr("'keys' must be a smaller size, then a larger one"));
  EXPECT_THAT(message_of("/kernels/0/kernel", "forwards"), HasSubstr("unknown kernel 'forwards'; nearest: forward"));
  EXPECT_THAT(message_of("/kernels/0/library", "tokamax"), HasSubstr("the forward kernel of jax once"));
  EXPECT_THAT(message_of("/kernels/0/row", {1, 2}), HasSubstr("'row' must be 8 numbers"));
  EXPECT_THAT(message_of("/kernels/0/colour", 1), HasSubstr("unknown key 'colour'"));
  nlohmann::json timeless = v6e;
  timeless.erase("clock");
  EXPECT_THAT([&] { parse_profile(timeless.dump(), "mine.json"); },
              ThrowsMessage<InputError>(HasSubstr("'clock' must be cycles a second of splash_cycles")));
}

TEST(LoadProfile, GroupedKernelsHaveAStepAndTilesOfEachProductOnce) {
  const auto message_of = [](const char* key, const nlohmann::json& value) {
    return message_of_changed("tpu-7x", "grouped_kernels", key, value);
  };
  EXPECT_EQ(message_of("/tuned", nlohmann::json::array()), "");
  EXPECT_THAT(message_of("/step/unit", "GB"), HasSubstr("step"));
  EXPECT_THAT(message_of("/tuned/0/forward", {1, 2}), HasSubstr("'forward' must be 3 sizes"));
  EXPECT_THAT(message_of("/tuned/0/product", {1, 2, 3, 0.5}), HasSubstr("'product' must be whole numbers from 1 on"));
  const nlohmann::json profile = nlohmann::json::parse(profile_json("tpu-7x"));
  const nlohmann::json& first = profile["grouped_kernels"]["tuned"][0];
  EXPECT_THAT(message_of("/tuned/1", first), HasSubstr("'tuned' must be each product once"));
  EXPECT_THAT(message_of("/colour", 1), HasSubstr("unknown key 'colour'"));
}

TEST(LoadProfile, AttentionKernelsHaveSharesByWidth) {
  const auto message_of = [](const char* key, const nlohmann::json& value) {
    return message_of_changed("h100", "attention_kernels", key, value);
  };
  EXPECT_EQ(message_of("/extra_keys", 0), "");
  EXPECT_THAT(message_of("/extra_keys", -1), HasSubstr("'extra_keys' must be a number from 0 to"));
  EXPECT_THAT(message_of("/heads", nlohmann::json::array()), HasSubstr("'heads' must be one width at least"));
  EXPECT_THAT(message_of("/heads/1/head_dim", 64), HasSubstr("'heads' must be widths in ascending order"));
  EXPECT_THAT(message_of("/heads/0/backward", 1.5), HasSubstr("heads[0]: 'backward' must be a share of peak_bf16"));
  EXPECT_THAT(message_of("/colour", 1), HasSubstr("unknown key 'colour'"));
}

TEST(LoadProfile, AtomicAdditionsSayHowManyAreOnTheirWay) {
  const auto message_of = [](const char* key, const nlohmann::json& value) {
    return message_of_changed("h100", "atomic_additions", key, value);
  };
  EXPECT_EQ(message_of("/in_flight", 1), "");
  EXPECT_THAT(message_of("/in_flight", 0), HasSubstr("'in_flight' must be a number from 1 to"));
  EXPECT_THAT(message_of("/attempts/unit", "GB/s"), HasSubstr("attempts"));
  EXPECT_THAT(message_of("/colour", 1), HasSubstr("unknown key 'colour'"));
}

TEST(LoadProfile, SaysWhichNamesExist) {
  EXPECT_THAT([] { load_profile("tpu-v5"); },
              ThrowsMessage<InputError>(HasSubstr("unknown hardware 'tpu-v5'; nearest: ")));
  EXPECT_THAT([] { load_profile("./nowhere.json"); }, ThrowsMessage<InputError>(HasSubstr("nowhere.json")));
  EXPECT_THAT([] { profile_json("toy-tours"); }, ThrowsMessage<InputError>(HasSubstr("nearest: toy-torus")));
}

TEST(LoadProfile, ReadsAUsersFile) {
  const std::string path = own_folder() + "my-torus.json";
  std::ofstream(path) << edited("\"name\": \"toy-torus\"", "\"name\": \"my-torus\"");
  EXPECT_EQ(load_profile(path).name, "my-torus");
}

}  // namespace
}  // namespace shardplan
