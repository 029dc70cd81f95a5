// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/ops/op_def.h"

#include <optional>
#include <string>
#include <vector>

namespace tapescope::engine::test {

/// A tensor of a case file, row-major. A number stands for a Python number (a wrapped one).
struct CaseValue {
    bool absent = false;
    bool number = false;
    DType dtype = DType::F32;
    Dims sizes;
    std::vector<double> values;          ///< two for a complex number
    std::vector<std::int64_t> integers;  ///< int64 values, which doubles would round
};

/// How a test lays a value out in memory.
enum class Layout : std::uint8_t { Contiguous, Transposed, Gapped };
std::string_view layoutName(Layout layout);
/// as: another floating dtype for floating values.
Tensor makeTensor(const CaseValue& value, Layout layout, std::optional<DType> as = {});

/// One call of an operator with what an independent library computes for it. The format is
/// documented in tests/data/ops/make_reference.py; to add cases, add them to cases_<family>.py
/// there and run it.
struct OperatorCase {
    std::string op;
    std::string label;
    std::string place;  ///< "reference_reduce.txt:12"
    std::vector<CaseValue> inputs;
    Attrs attrs;
    std::vector<CaseValue> outputs;
    std::vector<std::pair<int, CaseValue>> givenGrads;      ///< of outputs
    std::vector<std::pair<int, CaseValue>> expectedGrads;   ///< of inputs
    std::vector<std::pair<int, CaseValue>> givenSecond;     ///< of the gradients of inputs
    std::vector<std::pair<int, CaseValue>> expectedSecond;  ///< of inputs, through their gradients
    std::optional<double> tolerance;
    std::optional<std::uint64_t> seed;
    bool contiguousOnly = false;
    bool refused = false;
    bool refusedValue =
        false;                 ///< what is refused is a number that the dtype cannot hold, or sizes
    bool refusedType = false;  ///< PyTorch gives a dtype that there is not: complex128, complex32
    bool sizesOnly = false;    ///< random: the values are nobody's to compare
    std::optional<DType> dtype;  ///< what a case of the dtype sweep is about
    /// "": every operand has that dtype; else the part that has: "mixed", "index", "mask"; "sizes":
    /// those are what is refused.
    std::string form;
    bool gradcheck = true;
    bool secondOrder = true;
    std::vector<std::size_t>
        constant;  ///< floating inputs that get no gradient (running statistics)
    /// Only a triangle of input 0 is read, its gradient is that of a symmetric matrix: differences
    /// are taken along symmetric ones.
    bool symmetric = false;
    std::string text;  ///< an argument that is text (einsum's equation)
    /// Set by tests of functions that are no operators of their own: called instead of the row.
    Outputs (*function)(const OperatorCase&, const std::vector<Tensor>& inputs) = nullptr;
    int gradOutputs = kMaxOutputs;  ///< gradients flow from the outputs before this one
};

/// True where complex numbers go in or come out: there is no wider type to take differences in.
bool hasComplex(const OperatorCase& c);

/// Every case of tests/data/ops/reference_*.txt. Throws std::runtime_error naming file and line of
/// what it cannot read.
const std::vector<OperatorCase>& operatorCases();

/// Every case of tests/data/ops/dtypes_*.txt: every operator in every dtype, made by
/// make_dtype_reference.py there.
const std::vector<OperatorCase>& dtypeCases();

/// The cases of one file of functions (functions_*.txt), whose names are no rows.
std::vector<OperatorCase> functionCases(const std::string& name);

}  // namespace tapescope::engine::test
