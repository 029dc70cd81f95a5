// SPDX-License-Identifier: Apache-2.0
#include "app/cli/arguments.h"

#include <array>
#include <gtest/gtest.h>

namespace tapescope::app {
namespace {

const std::array kOptions{OptionDef{"--steps", "N", ""}, OptionDef{"--set", "NAME=VALUE", "", true},
                          OptionDef{"--json", "", ""}};

Arguments parse(std::vector<std::string> words) {
    return Arguments::parse("run", words, kOptions, 1, 1, "MODEL");
}

std::string errorOf(std::vector<std::string> words) {
    try {
        parse(std::move(words));
    } catch (const CommandLineError& e) {
        return e.what();
    }
    return "no error";
}

TEST(Arguments, TakeValuesAfterASpaceOrAnEqualsSign) {
    const Arguments a =
        parse({"digits-cnn", "--steps", "5", "--set=lr=0.1", "--set", "batch=8", "--json"});
    EXPECT_EQ(a.positionals(), (std::vector<std::string>{"digits-cnn"}));
    EXPECT_EQ(a.integer("--steps", 1, 10), 5);
    EXPECT_EQ(a.values("--set"), (std::vector<std::string>{"lr=0.1", "batch=8"}));
    EXPECT_TRUE(a.has("--json"));
    EXPECT_FALSE(a.value("--seed").has_value());
}

TEST(Arguments, EverythingAfterTwoDashesIsPositional) {
    EXPECT_EQ(parse({"--", "--odd-name"}).positionals(), (std::vector<std::string>{"--odd-name"}));
}

TEST(Arguments, MistakesAreNamedWithWhatWouldBeRight) {
    EXPECT_EQ(errorOf({"m", "--step", "5"}),
              "tapescope run: unknown option --step; did you mean --steps?");
    EXPECT_EQ(errorOf({"m", "--steps"}), "tapescope run: --steps needs a value: --steps N");
    EXPECT_EQ(errorOf({"m", "--steps", "1", "--steps", "2"}),
              "tapescope run: --steps is given twice");
    EXPECT_EQ(errorOf({"m", "--json=1"}), "tapescope run: --json takes no value");
    EXPECT_EQ(errorOf({}), "tapescope run: MODEL is missing");
    EXPECT_EQ(errorOf({"a", "b"}), "tapescope run: unexpected argument b");
}

TEST(Arguments, NumbersAreCheckedWhole) {
    for (const char* bad : {"5x", "", "0", "11", "-3", "1e1", "99999999999999999999"}) {
        EXPECT_THROW((void)parse({"m", std::string("--steps=") + bad}).integer("--steps", 1, 10),
                     CommandLineError)
            << bad;
    }
}

}  // namespace
}  // namespace tapescope::app
