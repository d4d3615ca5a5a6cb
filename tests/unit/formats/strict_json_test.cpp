// JSON without surprises: nothing is converted, defaulted or ignored.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <sys/stat.h>
#include <filesystem>
#include <formats/strict_json.hpp>
#include <fstream>
#include <functional>
#include <shardplan/error.hpp>
#include <thread>

#include "../own_folder.hpp"

namespace shardplan {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string complaint_of(const std::function<void()>& action) try {
  action();
  return "";
} catch (const InputError& error) {
  return error.what();
}

struct Mistake {
  const char *text, *complaint;
};

TEST(StrictJson, TakesComments) {
  const auto json = parse_json("{\n  // what it is called\n  \"name\": /* short */ \"a//b\"\n}\n", "f.json");
  EXPECT_EQ(json["name"], "a//b");
}

TEST(ParseJson, NamesFileAndPlace) {
  for (const auto& [text, complaint] :
       {Mistake{"{\"a\": 1,}", "toy.json: not valid JSON: parse error at line 1, column 9"},
        {"{\n\"a\": tru}", "line 2"},
        {"", "toy.json: the file is empty"},
        {"{} {}", "toy.json: not valid JSON"},
        {"{\"a\": 1, \"a\": 2}", "toy.json: key 'a' occurs twice in one object"},
        {"{\"b\": [{\"a\": 1, \"a\": 1}]}", "key 'a' occurs twice"}})
    EXPECT_THAT(complaint_of([&] { parse_json(text, "toy.json"); }), HasSubstr(complaint)) << text;
}

TEST(ParseJson, AllowsTheSameKeyInDifferentObjects) {
  EXPECT_NO_THROW(parse_json(R"({"a": {"a": 1}, "b": [{"a": 1}, {"a": 2}]})", "toy.json"));
}

RC_GTEST_PROP(ParseJsonProperty, AnyTextIsReadOrRefused, (const std::string& text)) {
  try {
    parse_json(text, "any");
  } catch (const InputError&) {
  }
}

TEST(ReadFile, ReturnsItWholeOrNamesIt) {
  const std::string path = own_folder() + "read_file.txt";
  std::ofstream(path, std::ios::binary) << std::string("a\r\nb\0c", 6);
  EXPECT_EQ(read_file(path), std::string("a\r\nb\0c", 6));
  EXPECT_EQ(complaint_of([] { read_file("/nowhere/at all"); }), "/nowhere/at all: cannot be read: there is no such file");
  EXPECT_EQ(complaint_of([] { read_file(own_folder()); }), own_folder() + ": cannot be read: it is a folder");
}

/// `check --rules <(git show main:rules.yml)`: rules and their lines are two readings.
TEST(ReadFile, OfAPipeIsTheSameAgain) {
  const std::string path = own_folder() + "pipe";
  std::filesystem::remove(path);
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  std::thread writer([&] { std::ofstream(path) << "once"; });
  EXPECT_EQ(read_file(path), "once");
  writer.join();
  EXPECT_EQ(read_file(path), "once");
}

TEST(ReadFile, RefusesNamesOfSeveralLines) {
  EXPECT_THAT(complaint_of([] { read_file("a\nb.json"); }), HasSubstr("control characters in the name of a file"));
}

TEST(ReadFile, OfAnEmptyFileIsEmpty) {
  const std::string path = own_folder() + "empty.txt";
  std::ofstream(path).flush();
  EXPECT_EQ(read_file(path), "");
}

const char* toy =
    R"({"name": "x", "count": 8, "large": 2147483648, "share": 8.9, "on": true, "names": ["a", "b"],
        "inner": {"size": 1}, "nothing": null})";

struct Toy {
  nlohmann::json value = parse_json(toy, "toy.json");
  StrictObject object{value, "toy.json"};
};

TEST(StrictObject, GivesValuesOfTheTypeAskedFor) {
  Toy t;
  EXPECT_EQ(t.object.text("name"), "x");
  EXPECT_EQ(t.object.integer("count"), 8);
  EXPECT_EQ(t.object.number("count"), 8.0);
  EXPECT_EQ(t.object.number("share"), 8.9);
  EXPECT_TRUE(t.object.flag("on"));
  EXPECT_THAT(t.object.texts("names"), ElementsAre("a", "b"));
  EXPECT_EQ(t.object.array("names").size(), 2);
  EXPECT_EQ(t.object.object("inner").integer("size"), 1);
}

struct TypeRow {
  const char* what;
  std::function<void(StrictObject&)> ask;
  const char* complaint;
};

TEST(StrictObject, RefusesNumbersBeyondTheirTypes) {
  EXPECT_EQ(complaint_of([] { parse_json(R"({"a": 1e999})", "toy.json"); }),
            "toy.json: a number is beyond what a double holds (1.8e308)");
  const auto value = parse_json(R"({"a": 9223372036854775808, "b": 9223372036854775807})", "toy.json");
  StrictObject object{value, "toy.json"};
  EXPECT_EQ(complaint_of([&] { object.integer("a"); }), "toy.json: 'a' must be a whole number below 2^63");
  EXPECT_EQ(object.integer("b"), 9223372036854775807);
}

TEST(StrictObject, ConvertsNothing) {
  const TypeRow rows[] = {
      {"8.9 is no integer", [](auto& o) { o.integer("share"); }, "toy.json: 'share' must be a whole number"},
      {"true is no number", [](auto& o) { o.number("on"); }, "toy.json: 'on' must be a number"},
      {"true is no integer", [](auto& o) { o.integer("on"); }, "'on' must be a whole number"},
      {"8 is below 9", [](auto& o) { o.integer_at_least("count", 9); }, "toy.json: 'count' must be at least 9"},
      {"8 is not even a count of 9", [](auto& o) { o.count("count", 9); }, "toy.json: 'count' must be at least 9"},
      {"no int holds it", [](auto& o) { o.count("large", 1); }, "toy.json: 'large' must be at most 2147483647"},
      {"8 is no flag", [](auto& o) { o.flag("count"); }, "'count' must be true or false"},
      {"8 is no text", [](auto& o) { o.text("count"); }, "'count' must be a string"},
      {"a text is no number", [](auto& o) { o.number("name"); }, "'name' must be a number"},
      {"a text is no list", [](auto& o) { o.texts("name"); }, "'name' must be a list"},
      {"a list is no object", [](auto& o) { o.object("names"); }, "'names' must be an object"},
      {"an object is no list", [](auto& o) { o.array("inner"); }, "'inner' must be a list"},
      {"null is nothing", [](auto& o) { o.text("nothing"); }, "'nothing' must be a string"},
      {"missing", [](auto& o) { o.text("title"); }, "toy.json: key 'title' is missing"},
      {"present but wrong, with a default", [](auto& o) { o.integer_or("share", 1); },
       "'share' must be a whole number"},
      {"null, with a default", [](auto& o) { o.number_or("nothing", 1); }, "'nothing' must be a number"},
      {"inside another object", [](auto& o) { o.object("inner").text("size"); },
       "toy.json.inner: 'size' must be a string"},
  };
  for (const auto& row : rows) {
    Toy t;
    EXPECT_THAT(complaint_of([&] { row.ask(t.object); }), HasSubstr(row.complaint)) << row.what;
  }
}

// A key that another one was taken for: 'q_rank' isn't 'kv_rank'.
TEST(StrictObject, SaysWhichKeyIsThereInPlaceOfAMissingOne) {
  const auto complaint = [](const std::string& text) {
    const auto value = parse_json(text, "toy.json");
    StrictObject object(value, "toy.json");
    return complaint_of([&] { object.text("kv_rank"); });
  };
  EXPECT_EQ(complaint(R"({"kv_rnk": ""})"), "toy.json: key 'kv_rank' is missing; there is 'kv_rnk'");
  EXPECT_EQ(complaint(R"({"kv-rank": ""})"), "toy.json: key 'kv_rank' is missing; there is 'kv-rank'");
  EXPECT_EQ(complaint(R"({"q_rank": ""})"), "toy.json: key 'kv_rank' is missing");
}

TEST(StrictObject, TakesTextsOfOneLine) {
  const auto value = parse_json(R"({"name": "a\nb", "names": ["a", "b\u001b[31m"]})", "toy.json");
  StrictObject object(value, "toy.json");
  EXPECT_EQ(complaint_of([&] { object.text("name"); }),
            "toy.json: 'name' must be one line without control characters, not 'a\nb'");
  EXPECT_THAT(complaint_of([&] { object.texts("names"); }), HasSubstr("one line without control characters"));
  EXPECT_THAT(complaint_of([] { parse_json(R"({"a\nb": 1})", "toy.json"); }), HasSubstr("control characters"));
}

TEST(StrictObject, RefusesAListOfMixedTypes) {
  const auto value = parse_json(R"({"names": ["a", 1]})", "toy.json");
  StrictObject object(value, "toy.json");
  EXPECT_THAT(complaint_of([&] { object.texts("names"); }), HasSubstr("'names' must be a list of strings"));
}

TEST(StrictObject, TakesADefaultOnlyWhereTheKeyIsMissing) {
  Toy t;
  EXPECT_EQ(t.object.text_or("name", "y"), "x");
  EXPECT_EQ(t.object.text_or("absent", "y"), "y");
  EXPECT_EQ(t.object.integer_or("absent", 3), 3);
  EXPECT_EQ(t.object.number_or("absent", 0.5), 0.5);
  EXPECT_TRUE(t.object.flag_or("absent", true));
}

TEST(StrictObject, IsNothingButAnObject) {
  for (const char* text : {"[]", "1", "null", "\"x\""}) {
    const auto value = parse_json(text, "toy.json");
    EXPECT_EQ(complaint_of([&] { StrictObject(value, "toy.json"); }), "toy.json: expected an object") << text;
  }
}

TEST(StrictObject, FinishesOnlyWhenEveryKeyWasTaken) {
  const auto value = parse_json(R"({"name": "x", "colour": "red"})", "toy.json");
  StrictObject object(value, "toy.json");
  object.text("name");
  object.text_or("color", "");
  EXPECT_EQ(complaint_of([&] { object.finish(); }), "toy.json: unknown key 'colour'; nearest: color");
  object.any("colour");
  EXPECT_EQ(complaint_of([&] { object.finish(); }), "");
}

}  // namespace
}  // namespace shardplan
