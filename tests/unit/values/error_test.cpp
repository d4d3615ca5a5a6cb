// Which names are offered for a wrong one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <shardplan/error.hpp>

namespace shardplan {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

using Names = std::vector<std::string>;

TEST(NearestNames, ComeByEditDistanceThenAlphabetically) {
  EXPECT_THAT(nearest_names("mixtrl-8x7b", Names{"mixtral-8x22b", "llama2-7b", "mixtral-8x7b"}),
              ElementsAre("mixtral-8x7b", "mixtral-8x22b"));
  EXPECT_THAT(nearest_names("cat", Names{"rat", "hat", "bat"}), ElementsAre("bat", "hat", "rat"));
}

TEST(NearestNames, CountSubstitutionsInsertionsAndDeletions) {
  // A third of the letters may differ: kitten → mittens is 2, → sitting 3.
  EXPECT_THAT(nearest_names("kitten", Names{"sitting", "mittens"}), ElementsAre("mittens"));
  EXPECT_THAT(nearest_names("abcd", Names{"bcd", "abcde", "abXd", "wxyz"}), ElementsAre("abXd", "abcde", "bcd"));
}

TEST(NearestNames, CountNeighboursThatChangedPlacesOnce) {
  EXPECT_THAT(nearest_names("plna", Names{"plan", "list"}), ElementsAre("plan"));
  EXPECT_THAT(nearest_names("mixtrl", Names{"mixtral-8x22b", "llama2-7b", "gpt-oss-20b"}), ElementsAre("mixtral-8x22b"));
  EXPECT_THAT(nearest_names("ep-as-pc", Names{"ep-as-cp", "pure-fsdp"}), ElementsAre("ep-as-cp"));
}

TEST(InputError, QuotesWhatWouldEndIt) {
  EXPECT_STREQ(InputError(std::string("unknown 'a\0b', known: c", 23)).what(), "unknown 'a\\x00b', known: c");
}

/// A word that has no letter too many in common with anything is not what was meant.
TEST(NearestNames, OfferNothingForAShortWordThatIsAnother) {
  EXPECT_THAT(nearest_names("lion", Names{"adamw", "muon", "sgd"}), IsEmpty());
  EXPECT_THAT(nearest_names("--xy", Names{"--help", "--top"}), IsEmpty());
}

TEST(NearestNames, KnowWhatOtherToolsCallThings) {
  const Names axes = {"data", "stage", "fsdp", "expert", "tensor", "context"};
  EXPECT_THAT(nearest_names("ep", axes), ElementsAre("expert"));
  EXPECT_THAT(nearest_names("pp", axes), ElementsAre("stage"));
  EXPECT_THAT(nearest_names("pipeline", axes), ElementsAre("stage"));
  EXPECT_THAT(nearest_names("tp", axes), ElementsAre("tensor"));
  EXPECT_THAT(nearest_names("cp", axes), ElementsAre("context"));
  EXPECT_THAT(nearest_names("dp", axes), ElementsAre("data"));
  EXPECT_THAT(nearest_names("--hw", Names{"--help", "--hardware", "--chips"}), ElementsAre("--hardware"));
  EXPECT_THAT(nearest_names("--seq_len", Names{"--seq-len", "--slices"}), ElementsAre("--seq-len"));
}

TEST(NearestNames, TakeABeginningOfANameForNear) {
  EXPECT_THAT(nearest_names("deepseek3-671b-2d", Names{"deepseek3-671b-2dfsdp", "deepseek3-671b"}),
              ElementsAre("deepseek3-671b-2dfsdp", "deepseek3-671b"));
  EXPECT_THAT(nearest_names("ll", Names{"llama3.1-405b"}), ElementsAre("llama3.1-405b"));
}

/// A name that was typed and gone on from is near, but no nearer than its edits say.
TEST(NearestNames, PreferFewerEditsToABeginningThatIsAName) {
  const Names axes = {"activation_batch", "activation_batch_attn", "activation_batch_moe", "embed", "embed_moe",
                      "embed_vocab",      "kv",                    "kv_heads",             "mlp",   "mlp_moe"};
  const auto nearest = [&](const char* wrong) { return nearest_names(wrong, axes, 1); };
  for (const char* wrong : {"activation_batch_mo", "activation_batch_mooe", "activation_batch_moes",
                            "activation_batch_meo", "activation_batch_mlp"})
    EXPECT_THAT(nearest(wrong), ElementsAre("activation_batch_moe")) << wrong;
  EXPECT_THAT(nearest("embed_voca"), ElementsAre("embed_vocab"));
  EXPECT_THAT(nearest("embed_mo"), ElementsAre("embed_moe"));
  EXPECT_THAT(nearest("kv_head"), ElementsAre("kv_heads"));
  EXPECT_THAT(nearest("mlp_mo"), ElementsAre("mlp_moe"));
  EXPECT_THAT(nearest("activation_batch_att"), ElementsAre("activation_batch_attn"));
  EXPECT_THAT(nearest("embed_of_everything"), ElementsAre("embed")) << "many edits away, and yet what was typed";
}

TEST(NearestNames, AreAtMostThreeAndNeverTwice) {
  EXPECT_THAT(nearest_names("a", Names{"aa", "ab", "ac", "ad"}), ElementsAre("aa", "ab", "ac"));
  EXPECT_THAT(nearest_names("a", Names{"aa", "ab", "ac"}, 1), ElementsAre("aa"));
  EXPECT_THAT(nearest_names("ab", Names{"aa", "aa"}), ElementsAre("aa"));
}

TEST(NearestNames, AreNoneWhenNothingIsNear) {
  EXPECT_THAT(nearest_names("completely", Names{"x", "fsdp"}), IsEmpty());
  EXPECT_THAT(nearest_names("x", Names{}), IsEmpty());
  EXPECT_THAT(nearest_names("", Names{"expert"}), IsEmpty());
}

TEST(UnknownName, SaysWhatIsNearElseWhatThereIs) {
  EXPECT_EQ(unknown_name("axis", "fsdq", Names{"data", "fsdp"}), "unknown axis 'fsdq'; nearest: fsdp");
  EXPECT_EQ(unknown_name("axis", "elephant", Names{"data", "fsdp"}), "unknown axis 'elephant'; known: data, fsdp");
  EXPECT_EQ(unknown_name("axis", "elephants", Names(17, "fsdp")), "unknown axis 'elephants'");
  EXPECT_EQ(unknown_name("axis", "elephants", Names(17, "fsdp"), "axes list"),
            "unknown axis 'elephants'; `axes list` names them");
  EXPECT_EQ(unknown_name("axis", "fsdq", Names(17, "fsdp"), "axes list"), "unknown axis 'fsdq'; nearest: fsdp");
}

}  // namespace
}  // namespace shardplan
