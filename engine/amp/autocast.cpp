// SPDX-License-Identifier: Apache-2.0
#include "engine/amp/autocast.h"

#include "engine/amp/cast_inputs.h"
#include "engine/errors.h"
#include "engine/observe/context.h"
#include "engine/ops/pointwise.h"
#include "engine/tensor/tensor_impl.h"

#include <string>
#include <unordered_map>

namespace tapescope::engine::amp {
namespace {

/// A weight's cast. The weight is kept alive: its address is the key.
struct CachedCast {
    Tensor source;
    Tensor cast;
    std::uint32_t version = 0;
};

struct State {
    DType dtype = DType::BF16;
    bool cacheEnabled = true;
    int depth = 0;
    std::unordered_map<const TensorImpl*, CachedCast> cache;
};
State& state() {
    thread_local State own;
    return own;
}

/// A cast without a graph must not stand in for one that records.
bool cacheable(const Tensor& t, DType dtype) {
    return dtype != DType::F32 && t.dtype() == DType::F32 && t.requires_grad() && t.is_leaf() &&
           t.impl()->viewKind == ViewKind::None && state().cacheEnabled && grad_enabled();
}

Tensor castOf(const Tensor& t, DType dtype, Site site) {
    if (!cacheable(t, dtype)) return to(t, dtype, site);
    auto& cache = state().cache;
    const auto it = cache.find(t.impl());
    if (it != cache.end() && it->second.cast.dtype() == dtype && it->second.version == t.version())
        return it->second.cast;
    Tensor cast = to(t, dtype, site);
    cache[t.impl()] = {t, cast, t.version()};
    return cast;
}

}  // namespace

AutocastGuard::AutocastGuard(DType dtype, bool enabled, bool cache_enabled)
    : m_enabled(autocastOn), m_cacheEnabled(state().cacheEnabled), m_dtype(state().dtype) {
    if (!isReducedFloating(dtype))
        throw DTypeError("autocast: the dtype must be bfloat16 or float16, not " +
                         std::string(dtypeName(dtype)));
    autocastOn = enabled;
    state().dtype = dtype;
    state().cacheEnabled = cache_enabled;
    ++state().depth;
}

AutocastGuard::~AutocastGuard() {
    autocastOn = m_enabled;
    state().dtype = m_dtype;
    state().cacheEnabled = m_cacheEnabled;
    if (--state().depth == 0) state().cache.clear();
}

bool is_autocast_enabled() { return autocastOn; }
DType autocast_dtype() { return state().dtype; }
bool is_autocast_cache_enabled() { return state().cacheEnabled; }
void clear_autocast_cache() { state().cache.clear(); }

Tensor float32_in_autocast(const Tensor& x, Site site) {
    const bool cast = autocastOn && x.defined() && isReducedFloating(x.dtype());
    return cast ? to(x, DType::F32, site) : x;
}

CastInputs::CastInputs(const OpDef& op, std::span<const Tensor* const> inputs, Site site)
    : m_given(inputs) {
    AutocastPolicy policy = autocast_policy(op.name);
    if (policy == AutocastPolicy::AsIs) return;
    DType dtype = policy == AutocastPolicy::Float32 ? DType::F32 : state().dtype;
    if (policy == AutocastPolicy::Promote) {
        for (const Tensor* t : inputs) {
            if (t->defined() && isFloating(t->dtype()) && t->dtype() != DType::F64 &&
                t->dtype() != dtype)
                dtype = DType::F32;
        }
    }
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        const Tensor& t = *inputs[i];
        // float64 was asked for by the user; numbers take the type of what they meet.
        if (!t.defined() || !isFloating(t.dtype()) || t.dtype() == DType::F64 ||
            t.impl()->wrappedNumber || t.dtype() == dtype)
            continue;
        cast(i, dtype, site);
    }
}

void CastInputs::cast(std::size_t i, DType dtype, Site site) {
    if (m_owned.empty()) {
        m_owned.resize(m_given.size());
        m_pointers.assign(m_given.begin(), m_given.end());
    }
    m_owned[i] = castOf(*m_given[i], dtype, site);
    m_pointers[i] = &m_owned[i];
}

}  // namespace tapescope::engine::amp
