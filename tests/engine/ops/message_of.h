// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/errors.h"

#include <gtest/gtest.h>
#include <string>

namespace tapescope::engine::test {

/// What fn's exception of type E says, without the place in brackets that dispatch adds.
template <class E = Error, class Fn>
std::string messageOf(const Fn& fn) {
    try {
        fn();
    } catch (const E& error) {
        const std::string text = error.what();
        return text.substr(0, text.find(" (at "));
    } catch (const std::exception& error) {
        ADD_FAILURE() << "another exception was thrown: " << error.what();
        return "";
    }
    ADD_FAILURE() << "nothing was thrown";
    return "";
}

}  // namespace tapescope::engine::test
