// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "operator_case.h"

namespace tapescope::engine::test {

// Each adds gtest failures that name the case, the layout and the element.

/// Whether the call throws DTypeError.
bool refusesType(const OperatorCase& c);
/// The outputs, in every layout the case allows.
void checkValues(const OperatorCase& c);
/// backward() against the gradients of the independent library, where the case has them.
void checkRecordedGradients(const OperatorCase& c);
/// Gradients of gradients against those of the independent library, where the case has them.
void checkRecordedSecondOrder(const OperatorCase& c);
/// Gradients against central differences of the outputs, in float64.
void checkFirstOrder(const OperatorCase& c);
/// Gradients of gradients against central differences of the gradients, in float64.
void checkSecondOrder(const OperatorCase& c);

/// Whether central differences make sense for the case: it has a floating input with elements and
/// no kink nearby.
bool canCheckGradients(const OperatorCase& c);

}  // namespace tapescope::engine::test
