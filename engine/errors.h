// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/observe/site.h"

#include <stdexcept>
#include <string>
#include <string_view>

namespace tapescope::engine {

/// Base of everything the engine throws. what() is one complete sentence for the user; the
/// dispatcher adds the operator, module path and site once, on the way out (see placeSuffix).
class Error : public std::runtime_error {
public:
    explicit Error(const std::string& message) : std::runtime_error(message) {}
};

/// An operator was given sizes, dtypes or values it cannot take.
class ShapeError : public Error {
public:
    using Error::Error;
};
class DTypeError : public Error {
public:
    using Error::Error;
};
class IndexError : public Error {
public:
    using Error::Error;
};
/// A tensor saved for backward was overwritten in place before backward used it.
class InPlaceError : public Error {
public:
    using Error::Error;
};
/// Misuse of autograd: backward twice without retain_graph, no graph, wrong gradient shape.
class AutogradError : public Error {
public:
    using Error::Error;
};
/// An allocation did not fit the device or its budget.
class OutOfMemoryError : public Error {
public:
    using Error::Error;
};
/// A data file is missing, cut or of another kind. what() names the file, the place and the remedy.
class DataError : public Error {
public:
    using Error::Error;
};
/// Thrown through the engine by an observer to end a run early (a debugger's stop, Ctrl-C). Not a
/// failure.
class Interrupted : public std::runtime_error {
public:
    explicit Interrupted(const std::string& reason) : std::runtime_error(reason) {}
};

/// " (in module conv2, at plugins/models/digits_cnn.cpp:31)"; empty where neither is known.
std::string placeSuffix(std::string_view modulePath, const Site& site);

}  // namespace tapescope::engine
