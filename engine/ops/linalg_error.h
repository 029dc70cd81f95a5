// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/errors.h"

namespace tapescope::engine {

/// A matrix has no such decomposition: it is singular, not positive definite, or the method does
/// not converge.
class LinAlgError : public ErrorType<LinAlgError> {
public:
    using ErrorType::ErrorType;
};

}  // namespace tapescope::engine
