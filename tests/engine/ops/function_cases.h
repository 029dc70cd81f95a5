// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "operator_case.h"

#include <map>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

namespace tapescope::engine::test {

using Inputs = std::vector<Tensor>;
using Function = Outputs (*)(const OperatorCase&, const Inputs&);
using FunctionTable = std::map<std::string, Function>;

template <class... T>
Outputs outputs(const T&... tensors) {
    Outputs out;
    ((out.tensors[static_cast<std::size_t>(out.count++)] = tensors), ...);
    return out;
}
template <class Tuple>
Outputs ofTuple(const Tuple& tensors) {
    return std::apply([](const auto&... t) { return outputs(t...); }, tensors);
}

/// Every case of a file with the function of its name; throws std::runtime_error where there is
/// none.
inline std::vector<OperatorCase> boundCases(const std::string& file, const FunctionTable& table) {
    std::vector<OperatorCase> list = functionCases(file);
    for (OperatorCase& c : list) {
        const auto found = table.find(c.op);
        if (found == table.end())
            throw std::runtime_error(c.place + ": there is no function " + c.op);
        c.function = found->second;
    }
    return list;
}

}  // namespace tapescope::engine::test
