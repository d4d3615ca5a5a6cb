// What a user typed, or a file is called, may be no UTF-8; JSON has to be.
#include <gtest/gtest.h>

#include <formats/print_json.hpp>

namespace shardplan {
namespace {

TEST(PrintJson, IsWhatTheLibraryPrints) {
  const nlohmann::ordered_json document = {{"größe", {1, 2.5, nullptr}}, {"text", "a\nb"}};
  EXPECT_EQ(print_json(document), document.dump());
  EXPECT_EQ(print_json(document, 1), document.dump(1));
}

TEST(PrintJson, ShowsOtherBytesAsMessagesDo) {
  const nlohmann::ordered_json document = {{"k\xff", {"a\nb\xfe", 1, {{"in", "\xc3"}}}}};
  EXPECT_EQ(print_json(document), R"({"k\\xff":["a\nb\\xfe",1,{"in":"\\xc3"}]})");
}

}  // namespace
}  // namespace shardplan
