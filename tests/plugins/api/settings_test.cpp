// SPDX-License-Identifier: Apache-2.0
#include "plugins/api/model.h"

#include <gtest/gtest.h>

namespace tapescope::plugins {
namespace {

const std::vector<Setting> kKnown{
    {"lr", 0.01, "learning rate", {}, 0},
    {"batch", std::int64_t{64}, "samples a step", {}, 1, 1024},
    {"optimizer", std::string("adam"), "which", {"adam", "sgd"}},
    {"nesterov", false, "look ahead"},
    {"note", std::string(""), "free text"},
};

Settings resolve(std::vector<std::pair<std::string, std::string>> given) {
    return Settings::resolve(kKnown, given);
}

std::string usageErrorOf(const std::string& name, const std::string& value) {
    try {
        resolve({{name, value}});
    } catch (const UsageError& e) {
        return e.what();
    }
    return "";
}

TEST(Settings, TakeDefaultsAndWhatIsGiven) {
    const Settings defaults = resolve({});
    EXPECT_EQ(defaults.real("lr"), 0.01);
    EXPECT_EQ(defaults.integer("batch"), 64);
    EXPECT_EQ(defaults.text("optimizer"), "adam");
    EXPECT_FALSE(defaults.flag("nesterov"));
    const Settings set = resolve({{"lr", "1e-3"},
                                  {"batch", "+8"},
                                  {"optimizer", "sgd"},
                                  {"nesterov", "on"},
                                  {"note", "a=b"},
                                  {"lr", "2"}});
    EXPECT_EQ(set.real("lr"), 2);  // the last one counts
    EXPECT_EQ(set.integer("batch"), 8);
    EXPECT_EQ(set.text("optimizer"), "sgd");
    EXPECT_TRUE(set.flag("nesterov"));
    EXPECT_EQ(set.text("note"), "a=b");
    ASSERT_EQ(set.all().size(), kKnown.size());
    EXPECT_EQ(set.all()[1].first, "batch");
}

TEST(Settings, PrintAsTheyAreTyped) {
    EXPECT_EQ(settingText(0.001), "0.001");
    EXPECT_EQ(settingText(1e-8), "1e-08");
    EXPECT_EQ(settingText(std::int64_t{64}), "64");
    EXPECT_EQ(settingText(true), "true");
    EXPECT_EQ(settingText(std::string("adam")), "adam");
}

TEST(Settings, UnknownNamesGetTheNearestOnes) {
    const std::string text = usageErrorOf("optimiser", "sgd");
    EXPECT_NE(text.find("\"optimiser\""), std::string::npos) << text;
    EXPECT_NE(text.find("did you mean optimizer?"), std::string::npos) << text;
    EXPECT_NE(usageErrorOf("zzzz", "1").find("lr, batch, optimizer"), std::string::npos);
}

TEST(Settings, EveryBadValueIsNamedWithWhatWasExpected) {
    struct Bad {
        const char* name;
        const char* value;
        const char* mention;
    };
    for (const Bad& bad :
         {Bad{"lr", "fast", "a number"}, Bad{"lr", "", "a number"}, Bad{"lr", "0.1x", "a number"},
          Bad{"lr", "nan", "a number"}, Bad{"lr", "inf", "a number"},
          Bad{"lr", "1e999", "a number"}, Bad{"lr", "-0.1", "at least 0"},
          Bad{"batch", "2.5", "a whole number"},
          Bad{"batch", "99999999999999999999", "a whole number"},
          Bad{"batch", "0", "between 1 and 1024"}, Bad{"batch", "1025", "between 1 and 1024"},
          Bad{"nesterov", "maybe", "true or false"}, Bad{"optimizer", "adan", "did you mean adam?"},
          Bad{"optimizer", "", "adam, sgd"}}) {
        const std::string text = usageErrorOf(bad.name, bad.value);
        EXPECT_NE(text.find("setting " + std::string(bad.name)), std::string::npos)
            << bad.value << ": " << text;
        EXPECT_NE(text.find(bad.mention), std::string::npos) << bad.value << ": " << text;
    }
}

TEST(ModelRegistry, NamesTheNearestModel) {
    ModelRegistry registry;
    registry.add({.name = "digits-cnn", .summary = ""});
    registry.add({.name = "digits-mlp", .summary = ""});
    EXPECT_EQ(registry.find("digits-mlp").name, "digits-mlp");
    EXPECT_THROW(registry.add({.name = "digits-cnn", .summary = ""}), engine::Error);
    try {
        registry.find("digit-cnn");
        FAIL() << "an unknown model was found";
    } catch (const UsageError& e) {
        const std::string text = e.what();
        EXPECT_NE(text.find("\"digit-cnn\""), std::string::npos) << text;
        EXPECT_NE(text.find("did you mean digits-cnn"), std::string::npos) << text;
    }
}

}  // namespace
}  // namespace tapescope::plugins
