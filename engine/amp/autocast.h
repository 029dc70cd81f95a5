// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/tensor/tensor.h"

#include <cstdint>
#include <string_view>

namespace tapescope::engine::amp {

/// with torch.autocast("cpu", dtype, enabled, cache_enabled): on this thread, until the scope ends,
/// operators choose the type they calculate in by PyTorch's lists (autocast_policy): matrix
/// products and convolutions take float32 inputs as dtype, losses and decompositions take 16-bit
/// inputs as float32, joins take the widest type. float64, integers and in-place operators are left
/// alone, and so is backward, whose operators follow the types that forward chose. The casts are
/// recorded: gradients arrive in the parameters' own float32.
///
/// While it is on and cache_enabled, the cast of a float32 leaf that requires a gradient (a weight)
/// is made once and kept until the outermost scope ends. A weight written in between is cast anew.
///
/// Scopes nest, also switched off (enabled = false) inside one that is on. dtype: BF16 or F16; the
/// constructor throws DTypeError for others. Source: torch.amp.autocast_mode of PyTorch 2.15.
class AutocastGuard final {
public:
    explicit AutocastGuard(DType dtype = DType::BF16, bool enabled = true,
                           bool cache_enabled = true);
    ~AutocastGuard();
    AutocastGuard(const AutocastGuard&) = delete;
    AutocastGuard& operator=(const AutocastGuard&) = delete;

private:
    bool m_enabled;
    bool m_cacheEnabled;
    DType m_dtype;
};

/// torch.is_autocast_enabled("cpu"), torch.get_autocast_dtype("cpu"),
/// torch.is_autocast_cache_enabled(): of this thread.
bool is_autocast_enabled();
DType autocast_dtype();
bool is_autocast_cache_enabled();
/// Forgets the casts of weights.
void clear_autocast_cache();

/// What autocast does to an operator's floating inputs.
enum class AutocastPolicy : std::uint8_t {
    AsIs,            ///< nothing: it takes what comes
    LowerPrecision,  ///< float32 becomes the autocast dtype
    Float32,         ///< 16-bit floats become float32
    Promote          ///< all become float32 if one is
};
/// By PyTorch's lists for the CPU; AsIs for names they do not have.
AutocastPolicy autocast_policy(std::string_view op);

/// For functions made of several operators that PyTorch lists as one for float32 (cross_entropy):
/// inside an autocast scope a 16-bit x as float32, else x itself.
Tensor float32_in_autocast(const Tensor& x, Site site = {});

}  // namespace tapescope::engine::amp
