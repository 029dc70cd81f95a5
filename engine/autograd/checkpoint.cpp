// SPDX-License-Identifier: Apache-2.0
#include "engine/autograd/checkpoint.h"

#include "engine/amp/autocast.h"
#include "engine/autograd/node.h"
#include "engine/autograd/saved_hooks.h"
#include "engine/autograd/saved_tensor.h"
#include "engine/errors.h"
#include "engine/observe/context.h"

#include <any>
#include <memory>
#include <string>
#include <utility>

namespace tapescope::engine {
namespace {

using Function = std::function<std::vector<Tensor>(std::span<const Tensor>)>;

/// Names the checkpoint where its inputs are kept; never part of a graph.
class CheckpointNode final : public Node {
public:
    explicit CheckpointNode(Site site) { m_site = site; }
    void apply(std::span<const Tensor>, std::span<Tensor>) override {}
    std::string_view name() const override { return "checkpoint"; }
};

std::string placeOf(const Site& site) {
    return site.known() ? " at " + std::string(site.file) + ":" + std::to_string(site.line)
                        : std::string();
}

/// Restores everything a thread's state holds, however the scope ends.
class StateScope {
public:
    StateScope() : m_state(threadState()), m_saved(m_state) {}
    ~StateScope() { m_state = m_saved; }
    StateScope(const StateScope&) = delete;
    StateScope& operator=(const StateScope&) = delete;
    const ThreadState& saved() const { return m_saved; }

private:
    ThreadState& m_state;
    ThreadState m_saved;
};

class RandomScope {
public:
    RandomScope(Generator& generator, bool on, Generator::State from)
        : m_generator(generator), m_on(on), m_saved(generator.state()) {
        if (m_on) m_generator.setState(from);
    }
    ~RandomScope() {
        if (m_on) m_generator.setState(m_saved);
    }
    RandomScope(const RandomScope&) = delete;
    RandomScope& operator=(const RandomScope&) = delete;

private:
    Generator& m_generator;
    bool m_on;
    Generator::State m_saved;
};

/// One checkpointed call. Held by what its operators saved: each of them only a number.
class Checkpoint : public std::enable_shared_from_this<Checkpoint> {
public:
    Checkpoint(Function function, std::span<const Tensor> inputs, CheckpointOptions options,
               Site site)
        : m_function(std::move(function)),
          m_options(options),
          m_node(Ref<Node>::adopt(new CheckpointNode(site))),
          m_modes(threadState()),
          m_random(m_modes.context->generator().state()) {
        // Kept as any operator keeps its inputs: under the hooks of a checkpoint around this one.
        m_inputs.reserve(inputs.size());
        for (std::size_t i = 0; i < inputs.size(); ++i) {
            if (!inputs[i].defined()) {
                m_inputs.emplace_back();
                continue;
            }
            m_inputs.emplace_back(inputs[i], SavedTensor::As::Input, *m_node, static_cast<int>(i));
        }
    }

    std::vector<Tensor> forward(std::span<const Tensor> inputs) {
        const auto self = shared_from_this();
        const SavedTensorsHooks hooks(
            std::make_shared<const SavedTensorsHooks::Pair>(SavedTensorsHooks::Pair{
                [self](const Tensor& t, const Node& node) -> std::any {
                    self->m_slots.push_back({t.meta(), std::string(node.name()), node.site()});
                    return self->m_slots.size() - 1;
                },
                [self](const std::any& slot) {
                    return self->take(std::any_cast<std::size_t>(slot));
                }}));
        return m_function(inputs);
    }

private:
    /// What an operator saved during forward.
    struct Slot {
        TensorMeta meta;
        std::string op;
        Site site = Site::none();
    };
    struct Again {
        Tensor tensor;
        std::uint32_t version = 0;
    };

    /// Each tensor is wanted once a backward pass, and dropped with that.
    Tensor take(std::size_t slot) {
        if (slot >= m_again.size() || !m_again[slot].tensor.defined()) recompute();
        Again again = std::exchange(m_again[slot], {});
        if (again.tensor.version() != again.version) {
            throw InPlaceError("checkpoint" + placeOf(m_node->site()) + ": the tensor " +
                               m_slots[slot].meta.toString() + " that " + m_slots[slot].op +
                               " saved was overwritten in place by the checkpointed function; use "
                               "the out-of-place form there");
        }
        return again.tensor;
    }

    void recompute() {
        std::vector<Tensor> inputs;
        for (std::size_t i = 0; i < m_inputs.size(); ++i) {
            inputs.push_back(m_inputs[i].defined()
                                 ? m_inputs[i].unpack(*m_node, static_cast<int>(i))
                                 : Tensor());
        }
        m_again.assign(m_slots.size(), {});
        m_next = 0;
        const StateScope scope;
        const ThreadState& now = scope.saved();
        BackwardFrame frame;
        frame.parent = now.backward;
        frame.name = m_node->name();
        frame.site = m_node->site();
        frame.recomputes = true;
        if (now.backward) {
            frame.op = now.backward->op;
            frame.forwardId = now.backward->forwardId;
            frame.module = now.backward->module;
        }
        // Everything forward ran under (autocast, module …), on today's thread and run.
        ThreadState& state = threadState();
        state = m_modes;
        if (now.context != m_modes.context) state.module = nullptr;
        state.context = now.context;
        state.gradEnabled = true;
        state.anomaly = now.anomaly;
        state.savedHooks = nullptr;
        state.phase = now.phase;
        state.op = now.op;
        state.thread = now.thread;
        state.backward = &frame;
        const amp::AutocastGuard autocast(m_autocast.dtype, m_autocast.enabled,
                                          m_autocast.cacheEnabled);
        const RandomScope random(now.context->generator(), m_options.preserve_rng_state, m_random);
        try {
            const SavedTensorsHooks hooks(
                std::make_shared<const SavedTensorsHooks::Pair>(SavedTensorsHooks::Pair{
                    [this](const Tensor& t, const Node& node) { return note(t, node); },
                    // Only where the function itself runs backward.
                    [](const std::any& tensor) { return std::any_cast<Tensor>(tensor); }}));
            m_function(inputs);
        } catch (const RecomputationDone&) {  // NOLINT(bugprone-empty-catch): as planned
        }
        if (m_next < m_slots.size()) {
            const Slot& missing = m_slots[m_next];
            throw AutogradError("checkpoint" + placeOf(m_node->site()) + ": forward saved " +
                                std::to_string(m_slots.size()) +
                                " tensors, running it again only " + std::to_string(m_next) +
                                ": what " + missing.op + placeOf(missing.site) + " saved, " +
                                missing.meta.toString() +
                                ", is missing; the function must do the same work each time");
        }
    }

    std::any note(const Tensor& t, const Node& node) {
        if (m_next == m_slots.size()) return t;
        const Slot& slot = m_slots[m_next];
        const TensorMeta meta = t.meta();
        if (meta.sizes != slot.meta.sizes || meta.dtype != slot.meta.dtype) {
            throw AutogradError("checkpoint" + placeOf(m_node->site()) + ": tensor " +
                                std::to_string(m_next) + " that forward saved is " +
                                slot.meta.toString() + " from " + slot.op + placeOf(slot.site) +
                                ", running it again gave " + meta.toString() + " from " +
                                std::string(node.name()) + placeOf(node.site()) +
                                "; the function must do the same work each time");
        }
        m_again[m_next] = {t, t.version()};
        if (++m_next == m_slots.size() && m_options.early_stop) throw RecomputationDone{};
        return t;
    }

    Function m_function;
    CheckpointOptions m_options;
    Ref<Node> m_node;
    ThreadState m_modes;
    Generator::State m_random;
    struct {
        bool enabled = amp::is_autocast_enabled();
        DType dtype = amp::autocast_dtype();
        bool cacheEnabled = amp::is_autocast_cache_enabled();
    } m_autocast;
    std::vector<SavedTensor> m_inputs;
    std::vector<Slot> m_slots;
    std::vector<Again> m_again;
    std::size_t m_next = 0;
};

}  // namespace

std::vector<Tensor> checkpoint(Function function, std::span<const Tensor> inputs,
                               CheckpointOptions options, Site site) {
    if (!grad_enabled()) return function(inputs);
    return std::make_shared<Checkpoint>(std::move(function), inputs, options, site)
        ->forward(inputs);
}

Tensor checkpoint(std::function<Tensor(const Tensor&)> function, const Tensor& input,
                  CheckpointOptions options, Site site) {
    return checkpoint(
        [function = std::move(function)](std::span<const Tensor> inputs) {
            return std::vector<Tensor>{function(inputs[0])};
        },
        std::span(&input, 1), options, site)[0];
}

Tensor checkpoint_sequential(std::span<const std::function<Tensor(const Tensor&)>> functions,
                             std::int64_t segments, const Tensor& input, CheckpointOptions options,
                             Site site) {
    const auto count = static_cast<std::int64_t>(functions.size());
    if (segments < 1 || segments > count) {
        throw Error("checkpoint_sequential: " + std::to_string(segments) + " segments of " +
                    std::to_string(count) + " functions; give 1 to " + std::to_string(count) +
                    placeSuffix("", site));
    }
    const std::size_t length = static_cast<std::size_t>(count / segments);
    Tensor x = input;
    std::size_t begin = 0;
    for (std::int64_t i = 0; i + 1 < segments; ++i, begin += length) {
        std::vector<std::function<Tensor(const Tensor&)>> part(
            functions.begin() + static_cast<std::ptrdiff_t>(begin),
            functions.begin() + static_cast<std::ptrdiff_t>(begin + length));
        x = checkpoint(
            [part = std::move(part)](const Tensor& t) {
                Tensor y = t;
                for (const auto& f : part) y = f(y);
                return y;
            },
            x, options, site);
    }
    for (; begin < functions.size(); ++begin) x = functions[begin](x);
    return x;
}

}  // namespace tapescope::engine
