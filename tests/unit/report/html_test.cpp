#include <gmock/gmock.h>

#include <planner/report/html/html_report.hpp>

namespace shardplan {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(HtmlPage, HasTheAnswerAndLeavesNoPlaceOpen) {
  const std::string page = html_page("a & <b>", R"({"rules": "x"})");
  EXPECT_THAT(page, HasSubstr(R"(id="answer">{"rules": "x"}</script>)"));
  EXPECT_THAT(page, HasSubstr("<title>a &amp; &lt;b></title>"));
  EXPECT_THAT(page, Not(HasSubstr("{{")));
}

TEST(HtmlPage, AnAnswerCanNeitherEndItsElementNorFillAPlace) {
  const std::string page = html_page("t", R"({"rules": "</script><!--{{script}}"})");
  EXPECT_THAT(page, HasSubstr(R"("\u003c/script>\u003c!--{{script}}")"));
}

TEST(HtmlPage, ForbidsEveryRequest) {
  EXPECT_THAT(html_page("t", "{}"), HasSubstr("Content-Security-Policy\" content=\"default-src 'none'"));
}

}  // namespace
}  // namespace shardplan
