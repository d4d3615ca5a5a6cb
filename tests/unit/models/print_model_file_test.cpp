// Every model survives being written down and read again.
#include <gmock/gmock.h>

#include <formats/strict_json.hpp>
#include <models/load_model.hpp>
#include <models/model_file.hpp>
#include <models/print_model_file.hpp>

#include "model_text.hpp"

namespace shardplan {
namespace {

TEST(PrintModelFile, IsReadBackAsTheSameModel) {
  for (const auto& name : model_names()) {
    Model model = load_model(name);
    model.in_maxtext = false;  // of a file nobody knows
    const std::string text = print_model_file(model, "somewhere");
    EXPECT_EQ(read_model_file(parse_json(text, name), name), model) << text;
  }
}

TEST(PrintModelFile, LeavesDefaultsOut) {
  const std::string text = print_model_file(load_model("llama2-7b"), "somewhere");
  EXPECT_THAT(text, testing::HasSubstr("\"layers\": 32"));
  EXPECT_THAT(text, testing::Not(testing::HasSubstr("num_experts")));
}

}  // namespace
}  // namespace shardplan
