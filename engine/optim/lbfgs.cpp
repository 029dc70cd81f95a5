// SPDX-License-Identifier: Apache-2.0
#include "engine/optim/lbfgs.h"

#include "engine/ops/pointwise.h"
#include "engine/ops/reduce.h"
#include "engine/ops/shape.h"
#include "engine/optim/strong_wolfe.h"

#include <algorithm>
#include <cmath>

namespace tapescope::engine::optim {
namespace {

double dot(const Tensor& a, const Tensor& b, Site site) {
    return sum(mul(a, b, site), {}, false, site).item();
}
double largest(const Tensor& x, Site site) { return amax(abs(x, site), {}, false, site).item(); }
void addScaled_(const Tensor& x, const Tensor& y, double factor, Site site) {
    add_(x, mul(y, factor, site), site);
}

}  // namespace

LBFGS::LBFGS(std::vector<Tensor> params, LbfgsOptions options)
    : m_params(std::move(params)), m_options(options) {
    if (m_params.empty()) throw Error("LBFGS: it got no parameters; give it model.parameters()");
    detail::checkParams("LBFGS", {}, m_params);
    detail::requireNotNegative("LBFGS", "lr", options.lr);
    if (options.max_iter < 1 || options.history_size < 1 || options.max_eval < 0) {
        throw Error("LBFGS: max_iter and history_size must be at least 1, and max_eval at least 0");
    }
    if (m_options.max_eval == 0) m_options.max_eval = options.max_iter * 5 / 4;
}

void LBFGS::step(Site site) {
    throw Error(
        "LBFGS: step() evaluates the model several times, so it needs a closure: "
        "optimizer.step([&] { optimizer.zero_grad(); Tensor loss = …; loss.backward(); "
        "return loss; })" +
        placeSuffix("", site));
}

double LBFGS::lr(std::size_t) const { return m_options.lr; }
void LBFGS::set_lr(std::size_t, double value) { m_options.lr = value; }
const std::vector<Tensor>& LBFGS::group_params(std::size_t) const { return m_params; }
void LBFGS::set_momentum(std::size_t, double value) {
    throw Error("LBFGS: it has no momentum that could be set to " + std::to_string(value));
}

double LBFGS::evaluate(const Closure& closure) const {
    const GradModeGuard recorded(true);
    const PhaseScope phase(Phase::Forward);
    const double loss = closure().item();
    return m_options.maximize ? -loss : loss;
}

Tensor LBFGS::flatGradient(Site site) const {
    std::vector<Tensor> parts;
    for (const Tensor& param : m_params) {
        const Tensor grad = param.grad();
        parts.push_back(reshape(grad.defined() ? grad : zeros_like(param, site), {-1}, site));
    }
    const Tensor flat = cat(parts, 0, site);
    return m_options.maximize ? neg(flat, site) : flat;
}

void LBFGS::move(double t, const Tensor& direction, Site site) const {
    std::int64_t offset = 0;
    for (const Tensor& param : m_params) {
        const std::int64_t count = param.numel();
        const Tensor part = reshape(narrow(direction, 0, offset, count, site), param.sizes(), site);
        addScaled_(param, part, t, site);
        offset += count;
    }
}

void LBFGS::updateDirection(const Tensor& gradient, Site site) {
    State& state = m_state;
    if (state.iterations == 1) {
        state.direction = neg(gradient, site);
        state.history.clear();
        state.scale = 1;
        return;
    }
    const Tensor y = sub(gradient, state.gradient, site);
    const Tensor s = mul(state.direction, state.t, site);
    const double ys = dot(y, s, site);
    if (ys > 1e-10) {
        if (static_cast<std::int64_t>(state.history.size()) == m_options.history_size)
            state.history.pop_front();
        y.set_role(MemoryRole::OptimizerState);
        s.set_role(MemoryRole::OptimizerState);
        state.history.push_back({y, s, 1 / ys});
        state.scale = ys / dot(y, y, site);
    }
    // The two loops of the method: the inverse Hessian times the gradient, without the Hessian.
    std::vector<double> alpha(state.history.size());
    const Tensor q = neg(gradient, site);
    for (std::size_t i = state.history.size(); i-- > 0;) {
        alpha[i] = dot(state.history[i].s, q, site) * state.history[i].rho;
        addScaled_(q, state.history[i].y, -alpha[i], site);
    }
    state.direction = mul(q, state.scale, site);
    for (std::size_t i = 0; i < state.history.size(); ++i) {
        const double beta = dot(state.history[i].y, state.direction, site) * state.history[i].rho;
        addScaled_(state.direction, state.history[i].s, alpha[i] - beta, site);
    }
}

Tensor LBFGS::step(const Closure& closure, Site site) {
    const NoGradGuard guard;
    Tensor first;
    {
        const GradModeGuard recorded(true);
        first = closure();
    }
    const PhaseScope phase(Phase::Optimizer);
    State& state = m_state;
    double loss = m_options.maximize ? -first.item() : first.item();
    std::int64_t evaluations = 1;
    ++state.evaluations;
    Tensor gradient = flatGradient(site);
    if (largest(gradient, site) <= m_options.tolerance_grad) return first;

    for (std::int64_t iteration = 1; iteration <= m_options.max_iter; ++iteration) {
        ++state.iterations;
        updateDirection(gradient, site);
        const Tensor& direction = state.direction;
        direction.set_role(MemoryRole::OptimizerState);
        state.gradient = gradient;
        state.loss = loss;
        state.t = m_options.lr;
        if (state.iterations == 1) {
            const double total = sum(abs(gradient, site), {}, false, site).item();
            state.t *= std::min(1.0, 1 / total);
        }
        const double slope = dot(gradient, direction, site);
        if (slope > -m_options.tolerance_change) break;

        std::int64_t used = 0;
        bool flat = false;
        if (m_options.line_search_fn == LineSearch::StrongWolfe) {
            std::vector<Tensor> origin;
            for (const Tensor& param : m_params) origin.push_back(clone(param, site));
            const auto at = [&](double t) {
                move(t, direction, site);
                LinePoint point{.t = t, .f = evaluate(closure), .g = flatGradient(site)};
                for (std::size_t i = 0; i < m_params.size(); ++i)
                    copy_(m_params[i], origin[i], site);
                point.slope = dot(point.g, direction, site);
                return point;
            };
            const LineResult found =
                strongWolfe(at, {.t = 0, .f = loss, .g = gradient, .slope = slope}, state.t,
                            largest(direction, site), m_options.max_eval - evaluations);
            state.t = found.point.t;
            loss = found.point.f;
            gradient = found.point.g;
            used = found.evaluations;
            move(state.t, direction, site);
            flat = largest(gradient, site) <= m_options.tolerance_grad;
        } else {
            move(state.t, direction, site);
            if (iteration != m_options.max_iter) {
                loss = evaluate(closure);
                gradient = flatGradient(site);
                flat = largest(gradient, site) <= m_options.tolerance_grad;
                used = 1;
            }
        }
        evaluations += used;
        state.evaluations += used;
        if (iteration == m_options.max_iter || evaluations >= m_options.max_eval || flat) break;
        if (largest(direction, site) * std::abs(state.t) <= m_options.tolerance_change) break;
        if (std::abs(loss - state.loss) < m_options.tolerance_change) break;
    }
    return first;
}

OptimizerState LBFGS::state_dict() const {
    OptimizerState out;
    const auto number = [&](const char* name, double value) {
        out.numbers[detail::stateKey(0, name)] = value;
    };
    out.numbers[detail::groupKey(0, "size")] = static_cast<double>(m_params.size());
    out.numbers[detail::groupKey(0, "lr")] = m_options.lr;
    number("func_evals", static_cast<double>(m_state.evaluations));
    number("n_iter", static_cast<double>(m_state.iterations));
    number("t", m_state.t);
    number("H_diag", m_state.scale);
    number("prev_loss", m_state.loss);
    if (m_state.direction.defined()) out.tensors[detail::stateKey(0, "d")] = m_state.direction;
    if (m_state.gradient.defined())
        out.tensors[detail::stateKey(0, "prev_flat_grad")] = m_state.gradient;
    for (std::size_t i = 0; i < m_state.history.size(); ++i) {
        const std::string n = "." + std::to_string(i);
        out.tensors[detail::stateKey(0, "old_dirs") + n] = m_state.history[i].y;
        out.tensors[detail::stateKey(0, "old_stps") + n] = m_state.history[i].s;
        out.numbers[detail::stateKey(0, "ro") + n] = m_state.history[i].rho;
    }
    return out;
}

void LBFGS::load_state_dict(const OptimizerState& given) {
    detail::checkGroups("LBFGS", given, {m_params.size()});
    const auto number = [&](const std::string& name, double standard) {
        return detail::numberAt(given, "state.0." + name, standard);
    };
    std::int64_t count = 0;
    for (const Tensor& param : m_params) count += param.numel();
    const Tensor shape = Tensor::empty({count}, m_params[0].dtype());
    const auto tensor = [&](const std::string& name) {
        const auto at = given.tensors.find("state.0." + name);
        return at == given.tensors.end() ? Tensor()
                                         : detail::loadedState(at->first, shape, at->second);
    };
    State state;
    state.evaluations = static_cast<std::int64_t>(number("func_evals", 0));
    state.iterations = static_cast<std::int64_t>(number("n_iter", 0));
    state.t = number("t", 0);
    state.scale = number("H_diag", 1);
    state.loss = number("prev_loss", 0);
    state.direction = tensor("d");
    state.gradient = tensor("prev_flat_grad");
    for (std::int64_t i = 0;; ++i) {
        const std::string n = "." + std::to_string(i);
        const Tensor y = tensor("old_dirs" + n);
        const Tensor s = tensor("old_stps" + n);
        if (!y.defined() || !s.defined()) break;
        state.history.push_back({y, s, number("ro" + n, 0)});
    }
    if (state.iterations > 0 && !(state.direction.defined() && state.gradient.defined()))
        throw Error("LBFGS: the state to load lacks d or prev_flat_grad; load a whole state");
    m_options.lr = detail::numberAt(given, "param_groups.0.lr", m_options.lr);
    m_state = std::move(state);
}

}  // namespace tapescope::engine::optim
