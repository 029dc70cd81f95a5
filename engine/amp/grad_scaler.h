// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/optim/optimizer.h"
#include "engine/tensor/tensor.h"

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

namespace tapescope::engine::amp {

struct GradScalerOptions {
    double init_scale = 65536.0;
    double growth_factor = 2.0;
    double backoff_factor = 0.5;
    std::int64_t growth_interval = 2000;  ///< steps in a row without inf or NaN before it grows
    bool enabled = true;  ///< off: scale() returns its input, step() steps, the rest does nothing
};

/// torch.amp.GradScaler: keeps float16 gradients from underflowing by scaling the loss, and passes
/// over updates whose gradients overflowed.
///
///     GradScaler scaler;
///     scaler.scale(loss).backward();
///     scaler.unscale_(optimizer);     // optional, before clipping
///     scaler.step(optimizer);         // no step if a gradient is inf or NaN
///     scaler.update();                // backs off or grows
///
/// Works with every optim::Optimizer by its parameters' gradients. Calls in another order throw
/// Error with PyTorch's sentence. For the thread that trains. Source: torch/amp/grad_scaler.py of
/// PyTorch 2.15 and _amp_update_scale_.
class GradScaler final {
public:
    /// Throws Error: growth_factor must be > 1, backoff_factor < 1.
    explicit GradScaler(const GradScalerOptions& options = {});

    /// outputs * scale, differentiable.
    Tensor scale(const Tensor& outputs, Site site = {});
    std::vector<Tensor> scale(const std::vector<Tensor>& outputs, Site site = {});
    /// Divides the optimizer's gradients by the scale and looks for inf and NaN. Once an optimizer
    /// and update(). Refuses float16 gradients, which a float16 parameter would have.
    void unscale_(optim::Optimizer& optimizer, Site site = {});
    /// Unscales unless that is done, then optimizer.step() if every gradient is finite. Returns
    /// whether it stepped.
    bool step(optim::Optimizer& optimizer, Site site = {});
    /// Backs off if a gradient of this iteration was inf or NaN, grows after growth_interval
    /// iterations without; or sets new_scale.
    void update(std::optional<double> new_scale = {});

    /// 1 when disabled.
    double get_scale() const;
    double get_growth_factor() const { return m_options.growth_factor; }
    double get_backoff_factor() const { return m_options.backoff_factor; }
    std::int64_t get_growth_interval() const { return m_options.growth_interval; }
    std::int64_t growth_tracker() const { return m_growthTracker; }
    void set_growth_factor(double factor) { m_options.growth_factor = factor; }
    void set_backoff_factor(double factor) { m_options.backoff_factor = factor; }
    void set_growth_interval(std::int64_t interval) { m_options.growth_interval = interval; }
    bool is_enabled() const { return m_options.enabled; }
    /// Whether the last unscaling of this optimizer since update() found inf or NaN.
    bool found_inf(const optim::Optimizer& optimizer) const;

    /// As PyTorch's state_dict(), which is empty for a disabled scaler.
    struct State {
        double scale = 65536.0;
        double growth_factor = 2.0;
        double backoff_factor = 0.5;
        std::int64_t growth_interval = 2000;
        std::int64_t growth_tracker = 0;
        friend bool operator==(const State&, const State&) = default;
    };
    std::optional<State> state_dict() const;
    /// Throws Error for an empty state. Does nothing when disabled.
    void load_state_dict(const std::optional<State>& state);

private:
    enum class Stage : std::uint8_t { Ready, Unscaled, Stepped };
    struct PerOptimizer {
        Stage stage = Stage::Ready;
        bool checked = false;
        bool foundInf = false;
    };
    void requireScale(const char* what) const;
    void unscale(optim::Optimizer& optimizer, PerOptimizer& state, Site site);

    GradScalerOptions m_options;
    float m_scale;
    bool m_scaleMade = false;  ///< PyTorch makes it at the first scale()
    std::int64_t m_growthTracker = 0;
    std::unordered_map<const optim::Optimizer*, PerOptimizer> m_optimizers;
};

}  // namespace tapescope::engine::amp
