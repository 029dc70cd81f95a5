// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/observe/site.h"

#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>

namespace tapescope::engine {

/// Base of everything the engine throws. what() is one complete sentence for the user; the
/// dispatcher adds the operator, module path and site once, on the way out (see placeSuffix).
class Error : public std::runtime_error {
public:
    explicit Error(const std::string& message) : std::runtime_error(message) {}
    /// Throws this error again, as its own type, with suffix behind its message.
    [[noreturn]] void raiseWith(const std::string& suffix) const {
        throwAs(what() + suffix);
        std::abort();  // throwAs has thrown
    }

private:
    virtual void throwAs(const std::string& message) const { throw Error(message); }
};

/// What an error type is made of, so that none loses its type on the way out:
/// class ShapeError : public ErrorType<ShapeError>.
template <class Derived>
class ErrorType : public Error {
public:
    using Error::Error;

private:
    void throwAs(const std::string& message) const final { throw Derived(message); }
};

/// An operator was given sizes, dtypes or values it cannot take.
class ShapeError : public ErrorType<ShapeError> {
public:
    using ErrorType::ErrorType;
};
class DTypeError : public ErrorType<DTypeError> {
public:
    using ErrorType::ErrorType;
};
class IndexError : public ErrorType<IndexError> {
public:
    using ErrorType::ErrorType;
};
/// A tensor saved for backward was overwritten in place before backward used it.
class InPlaceError : public ErrorType<InPlaceError> {
public:
    using ErrorType::ErrorType;
};
/// Misuse of autograd: backward twice without retain_graph, no graph, wrong gradient shape.
class AutogradError : public ErrorType<AutogradError> {
public:
    using ErrorType::ErrorType;
};
/// An allocation did not fit the device or its budget.
class OutOfMemoryError : public ErrorType<OutOfMemoryError> {
public:
    using ErrorType::ErrorType;
};
/// A data file is missing, cut or of another kind. what() names the file, the place and the remedy.
class DataError : public ErrorType<DataError> {
public:
    using ErrorType::ErrorType;
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
