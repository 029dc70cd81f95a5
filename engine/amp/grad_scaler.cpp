// SPDX-License-Identifier: Apache-2.0
#include "engine/amp/grad_scaler.h"

#include "engine/amp/unscale.h"
#include "engine/errors.h"
#include "engine/observe/context.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/shape.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace tapescope::engine::amp {

GradScaler::GradScaler(const GradScalerOptions& options)
    : m_options(options), m_scale(static_cast<float>(options.init_scale)) {
    if (!options.enabled) return;
    if (!(options.growth_factor > 1.0)) throw Error("The growth factor must be > 1.0.");
    if (!(options.backoff_factor < 1.0)) throw Error("The backoff factor must be < 1.0.");
}

Tensor GradScaler::scale(const Tensor& outputs, Site site) {
    if (!m_options.enabled) return outputs;
    m_scaleMade = true;
    // A 0-d tensor, not a number: a float16 loss times it is float32 as long as it has no
    // dimensions.
    return mul(outputs, Tensor::scalar(m_scale), site);
}

std::vector<Tensor> GradScaler::scale(const std::vector<Tensor>& outputs, Site site) {
    std::vector<Tensor> scaled;
    scaled.reserve(outputs.size());
    for (const Tensor& t : outputs) scaled.push_back(scale(t, site));
    return scaled;
}

void GradScaler::requireScale(const char* what) const {
    if (!m_scaleMade)
        throw Error(std::string("Attempted ") + what +
                    " but _scale is None.  This may indicate your script did not use "
                    "scaler.scale(loss or outputs) earlier in the iteration.");
}

void GradScaler::unscale(optim::Optimizer& optimizer, PerOptimizer& state, Site site) {
    const NoGradGuard guard;
    const Tensor foundInf = zeros({}, {}, site);
    // As PyTorch: 1 / scale in double, then float.
    const auto inverse = static_cast<float>(1.0 / static_cast<double>(m_scale));
    bool any = false;
    for (std::size_t group = 0; group < optimizer.group_count(); ++group) {
        for (const Tensor& param : optimizer.group_params(group)) {
            const Tensor grad = param.grad();
            if (!grad.defined()) continue;
            if (grad.dtype() == DType::F16) throw Error("Attempting to unscale FP16 gradients.");
            check_and_unscale_(grad, foundInf, static_cast<double>(inverse), site);
            any = true;
        }
    }
    state.checked = any;
    state.foundInf = any && foundInf.item() != 0;
}

void GradScaler::unscale_(optim::Optimizer& optimizer, Site site) {
    if (!m_options.enabled) return;
    requireScale("unscale_");
    PerOptimizer& state = m_optimizers[&optimizer];
    if (state.stage == Stage::Unscaled)
        throw Error(
            "unscale_() has already been called on this optimizer since the last update().");
    if (state.stage == Stage::Stepped) throw Error("unscale_() is being called after step().");
    unscale(optimizer, state, site);
    state.stage = Stage::Unscaled;
}

bool GradScaler::step(optim::Optimizer& optimizer, Site site) {
    if (!m_options.enabled) {
        optimizer.step(site);
        return true;
    }
    requireScale("step");
    PerOptimizer& state = m_optimizers[&optimizer];
    if (state.stage == Stage::Stepped)
        throw Error("step() has already been called since the last update().");
    if (state.stage == Stage::Ready) unscale_(optimizer, site);
    if (!state.checked) throw Error("No inf checks were recorded for this optimizer.");
    if (!state.foundInf) optimizer.step(site);
    state.stage = Stage::Stepped;
    return !state.foundInf;
}

void GradScaler::update(std::optional<double> new_scale) {
    if (!m_options.enabled) return;
    requireScale("update");
    if (new_scale) {
        m_scale = static_cast<float>(*new_scale);
    } else {
        bool checked = false;
        bool foundInf = false;
        for (const auto& [optimizer, state] : m_optimizers) {
            checked = checked || state.checked;
            foundInf = foundInf || state.foundInf;
        }
        if (!checked) throw Error("No inf checks were recorded prior to update.");
        if (foundInf) {
            m_scale = static_cast<float>(static_cast<double>(m_scale) * m_options.backoff_factor);
            m_growthTracker = 0;
        } else if (++m_growthTracker == m_options.growth_interval) {
            const auto grown =
                static_cast<float>(static_cast<double>(m_scale) * m_options.growth_factor);
            if (std::isfinite(grown)) m_scale = grown;
            m_growthTracker = 0;
        }
    }
    m_optimizers.clear();
}

double GradScaler::get_scale() const {
    return m_options.enabled ? static_cast<double>(m_scale) : 1.0;
}

bool GradScaler::found_inf(const optim::Optimizer& optimizer) const {
    const auto it = m_optimizers.find(&optimizer);
    return it != m_optimizers.end() && it->second.foundInf;
}

std::optional<GradScaler::State> GradScaler::state_dict() const {
    if (!m_options.enabled) return std::nullopt;
    return State{get_scale(), m_options.growth_factor, m_options.backoff_factor,
                 m_options.growth_interval, m_growthTracker};
}

void GradScaler::load_state_dict(const std::optional<State>& state) {
    if (!m_options.enabled) return;
    if (!state)
        throw Error(
            "The source state dict is empty, possibly because it was saved from a disabled "
            "instance of GradScaler.");
    m_scale = static_cast<float>(state->scale);
    m_options.growth_factor = state->growth_factor;
    m_options.backoff_factor = state->backoff_factor;
    m_options.growth_interval = state->growth_interval;
    m_growthTracker = state->growth_tracker;
}

}  // namespace tapescope::engine::amp
