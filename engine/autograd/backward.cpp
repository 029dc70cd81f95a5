// SPDX-License-Identifier: Apache-2.0
#include "engine/autograd/accumulate_grad.h"
#include "engine/autograd/anomaly.h"
#include "engine/autograd/autograd.h"
#include "engine/autograd/autograd_meta.h"
#include "engine/autograd/stack_buffer.h"
#include "engine/errors.h"
#include "engine/observe/context.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/shape.h"

#include <algorithm>
#include <atomic>

namespace tapescope::engine {

/// One pass from the roots: nodes run when all their gradients have arrived, the latest created
/// first. What the run knows of a node lies in a table of its own; the node only remembers where.
class BackwardRun {
public:
    struct Capture {
        Edge edge;
        Tensor gradient;
    };

    BackwardRun(bool retainGraph, bool createGraph)
        : m_retainGraph(retainGraph), m_createGraph(createGraph), m_id(nextId()) {
        std::swap(m_states, t_spare.states);
        std::swap(m_ready, t_spare.ready);
        ++t_depth;
    }
    ~BackwardRun() {
        // A run inside another one (a hook, a checkpoint) may have visited its nodes.
        if (--t_depth > 0) {
            for (const State& state : m_states) {
                state.node->m_run = state.outerRun;
                state.node->m_runIndex = state.outerIndex;
            }
        }
        m_states.clear();
        m_ready.clear();
        constexpr std::size_t kKept = 4096;
        if (m_states.capacity() <= kKept) std::swap(m_states, t_spare.states);
        if (m_ready.capacity() <= kKept) std::swap(m_ready, t_spare.ready);
    }
    BackwardRun(const BackwardRun&) = delete;
    BackwardRun& operator=(const BackwardRun&) = delete;

    void addRoot(const Tensor& root, Tensor gradient) {
        m_roots.push_back({gradientEdge(root), std::move(gradient)});
    }
    /// The gradient at t is kept in captures() instead of flowing on into a leaf. Only what leads
    /// there runs.
    void capture(const Tensor& t) { m_captures.push_back({gradientEdge(t), {}}); }
    const std::vector<Capture>& captures() const { return m_captures; }

    void run() {
        countDependencies();
        if (!m_captures.empty()) findNeeded();
        const GradModeGuard gradMode(m_createGraph);
        const PhaseScope phase(Phase::Backward);
        for (auto& [edge, gradient] : m_roots) deliver(edge, std::move(gradient));
        for (const auto& [edge, gradient] : m_roots) {
            State& state = stateOf(*edge.node);
            if (state.dependencies == 0 && !state.queued) enqueue(state);
        }
        while (!m_ready.empty()) {
            std::pop_heap(m_ready.begin(), m_ready.end(), Later{});
            Node* node = m_ready.back();
            m_ready.pop_back();
            runNode(*node);
        }
    }

private:
    struct State {
        Node* node = nullptr;
        Tensor gradient;              // of output 0
        std::vector<Tensor> further;  // of the others
        int dependencies = 0;
        bool queued = false;
        bool needed = true;
        bool captured = false;
        bool leadsOn = true;  // to a leaf, or to another captured tensor
        std::uint64_t outerRun = 0;
        std::size_t outerIndex = 0;
    };
    struct Later {
        bool operator()(const Node* a, const Node* b) const {
            return a->sequence() < b->sequence();
        }
    };
    struct Spare {
        std::vector<State> states;
        std::vector<Node*> ready;
    };
    static thread_local Spare t_spare;
    static constinit thread_local int t_depth;

    static std::uint64_t nextId() {
        static std::atomic<std::uint64_t> next{1};
        return next.fetch_add(1, std::memory_order_relaxed);
    }

    State& stateOf(const Node& node) { return m_states[node.m_runIndex]; }

    /// Every node reachable from the roots, with the number of edges that lead to it.
    void countDependencies() {
        const auto visit = [&](Node* node) {
            if (node->m_run == m_id) return;
            State& state = m_states.emplace_back();
            state.node = node;
            state.outerRun = node->m_run;
            state.outerIndex = node->m_runIndex;
            node->m_run = m_id;
            node->m_runIndex = m_states.size() - 1;
        };
        for (const auto& [edge, gradient] : m_roots) visit(edge.node.get());
        // What is found is appended: the table itself is the list of what is still to be looked at.
        for (std::size_t i = 0; i < m_states.size(); ++i) {
            for (const Edge& edge : m_states[i].node->edges()) {
                if (!edge.node) continue;
                visit(edge.node.get());
                ++stateOf(*edge.node).dependencies;
            }
        }
    }

    /// needed = leads to a captured edge. In topological order from the leaves.
    void findNeeded() {
        for (const Capture& c : m_captures) {
            if (c.edge.node->m_run == m_id) stateOf(*c.edge.node).captured = true;
        }
        const std::vector<std::size_t> order = topological();
        for (auto it = order.rbegin(); it != order.rend(); ++it) {
            State& state = m_states[*it];
            state.leadsOn = false;
            for (const Edge& edge : state.node->edges()) {
                state.leadsOn = state.leadsOn || (edge.node && stateOf(*edge.node).needed);
            }
            state.needed = state.captured || state.leadsOn;
        }
    }

    std::vector<std::size_t> topological() {
        std::vector<int> open(m_states.size());
        std::vector<std::size_t> order;
        order.reserve(m_states.size());
        for (std::size_t i = 0; i < m_states.size(); ++i) {
            open[i] = m_states[i].dependencies;
            if (open[i] == 0) order.push_back(i);
        }
        for (std::size_t at = 0; at < order.size(); ++at) {
            for (const Edge& edge : m_states[order[at]].node->edges()) {
                if (edge.node && --open[edge.node->m_runIndex] == 0)
                    order.push_back(edge.node->m_runIndex);
            }
        }
        return order;
    }

    void enqueue(State& state) {
        state.queued = true;
        m_ready.push_back(state.node);
        std::push_heap(m_ready.begin(), m_ready.end(), Later{});
    }

    static Tensor& slotOf(State& state, int slot) {
        if (slot == 0) return state.gradient;
        if (state.further.empty())
            state.further.resize(static_cast<std::size_t>(state.node->outputCount()) - 1);
        return state.further[static_cast<std::size_t>(slot) - 1];
    }

    /// Adds to what already arrived at the edge; the sum is an operator call on behalf of the
    /// receiving node.
    void deliver(const Edge& edge, Tensor gradient) {
        if (!gradient.defined()) return;
        Tensor& slot = slotOf(stateOf(*edge.node), edge.slot);
        if (!slot.defined()) {
            slot = std::move(gradient);
            return;
        }
        const FrameScope frame(*edge.node, {});
        slot = add(slot, gradient, edge.node->site());
    }

    void runNode(Node& node) {
        constexpr std::size_t kFew = 4;
        StackBuffer<Tensor, kFew> gradients(static_cast<std::size_t>(node.outputCount()));
        State& state = stateOf(node);
        gradients[0] = std::move(state.gradient);
        for (std::size_t i = 0; i < state.further.size(); ++i)
            gradients[i + 1] = std::move(state.further[i]);
        const std::span<const Edge> edges = node.edges();
        StackBuffer<Tensor, kFew> gradInputs(edges.size());
        const std::span<Tensor> given = gradients.span();
        const bool any =
            std::any_of(given.begin(), given.end(), [](const Tensor& t) { return t.defined(); });
        if (any && state.needed) {
            node.runTensorHooks(given);
            if (state.captured) captureAt(node, given);
            // What lies behind a captured tensor may still be needed for another one.
            if (state.leadsOn) {
                apply(node, given, gradInputs.span());
                if (!m_retainGraph && !m_createGraph) node.releaseSaved();
            }
        }
        for (Tensor& gradient : given) gradient = {};
        for (std::size_t i = 0; i < edges.size(); ++i) {
            if (!edges[i].node) continue;
            deliver(edges[i], std::move(gradInputs[i]));
            State& next = stateOf(*edges[i].node);
            if (--next.dependencies == 0 && !next.queued) enqueue(next);
        }
    }

    void captureAt(const Node& node, std::span<const Tensor> gradients) {
        for (Capture& c : m_captures) {
            if (c.edge.node.get() == &node)
                c.gradient = gradients[static_cast<std::size_t>(c.edge.slot)];
        }
    }

    /// What a hook returned in place of the gradients; nothing returned leaves them.
    static void replaceAll(std::string_view what, const Node& node, std::vector<Tensor> given,
                           std::span<Tensor> gradients) {
        if (given.empty()) return;
        if (given.size() != gradients.size()) {
            throw AutogradError(std::string(node.name()) + " backward: a " + std::string(what) +
                                " returned " + std::to_string(given.size()) + " gradients where " +
                                std::to_string(gradients.size()) + " are due");
        }
        std::move(given.begin(), given.end(), gradients.begin());
    }

    /// Operators run inside belong to the node's forward call.
    class FrameScope {
    public:
        FrameScope(const Node& node, std::span<const Tensor> gradOutputs) {
            ThreadState& state = threadState();
            m_frame.parent = state.backward;
            m_frame.op = node.op();
            m_frame.name = node.name();
            m_frame.forwardId = node.forwardId();
            m_frame.site = node.site();
            m_frame.module = node.module();
            m_frame.gradOutputs = gradOutputs;
            state.backward = &m_frame;
        }
        ~FrameScope() { threadState().backward = m_frame.parent; }
        FrameScope(const FrameScope&) = delete;
        FrameScope& operator=(const FrameScope&) = delete;
        BackwardFrame& frame() { return m_frame; }

    private:
        BackwardFrame m_frame;
    };

    static void apply(Node& node, std::span<Tensor> gradients, std::span<Tensor> gradInputs) {
        FrameScope scope(node, gradients);
        Context& context = Context::current();
        if (node.m_extras) [[unlikely]] {
            for (const auto& [id, hook] : std::vector(node.m_extras->before))
                replaceAll("pre-hook", node, hook(gradients), gradients);
        }
        if (!context.watched() || !node.op()) {
            node.apply(gradients, gradInputs);
        } else {
            const std::vector<Tensor> saved = node.savedForInspection();
            scope.frame().saved = saved;
            for (Observer* o : context.observers()) o->onBackwardBegin(scope.frame());
            node.apply(gradients, gradInputs);
            for (Observer* o : context.observers()) o->onBackwardEnd(scope.frame(), gradInputs);
        }
        if (threadState().anomaly) checkAnomaly(node, gradients, gradInputs);
        if (node.m_extras) [[unlikely]] {
            for (const auto& [id, hook] : std::vector(node.m_extras->after))
                replaceAll("hook", node, hook(gradInputs, gradients), gradInputs);
        }
    }

    bool m_retainGraph;
    bool m_createGraph;
    std::uint64_t m_id;
    std::vector<std::pair<Edge, Tensor>> m_roots;
    std::vector<Capture> m_captures;
    std::vector<State> m_states;
    std::vector<Node*> m_ready;  // a heap
};

thread_local BackwardRun::Spare BackwardRun::t_spare;
constinit thread_local int BackwardRun::t_depth = 0;

namespace {

Tensor rootGradient(std::string_view caller, const Tensor& root, const Tensor& given) {
    if (!root.defined() || !root.requires_grad()) {
        throw AutogradError(
            std::string(caller) +
            ": the tensor has no graph to go back through: nothing it was computed from requires a "
            "gradient, or it was computed under NoGradGuard or detached");
    }
    if (!given.defined()) {
        if (root.numel() != 1) {
            throw AutogradError(
                std::string(caller) + ": the tensor has shape " + toString(root.sizes()) +
                "; a gradient can be left out only for one element, pass one or reduce it first");
        }
        if (isComplex(root.dtype())) {
            throw AutogradError(std::string(caller) +
                                ": the tensor is complex64; a gradient can be left out only for a "
                                "real one, pass one "
                                "or take real(), imag() or abs() first");
        }
        return ones(root.sizes(), {.dtype = root.dtype()}, Site::none());
    }
    if (given.sizes() != root.sizes()) {
        throw ShapeError(std::string(caller) + ": the gradient has shape " +
                         toString(given.sizes()) + ", the tensor " + toString(root.sizes()));
    }
    if (isComplex(given.dtype()) != isComplex(root.dtype())) {
        throw DTypeError(std::string(caller) + ": the gradient is " +
                         std::string(dtypeName(given.dtype())) + ", the tensor " +
                         std::string(dtypeName(root.dtype())) + "; convert it with to()");
    }
    return given;
}

void addRoots(BackwardRun& run, std::string_view caller, std::span<const Tensor> roots,
              std::span<const Tensor> gradients) {
    if (roots.empty()) throw AutogradError(std::string(caller) + ": no tensor was given");
    if (!gradients.empty() && gradients.size() != roots.size()) {
        throw AutogradError(std::string(caller) + ": " + std::to_string(gradients.size()) +
                            " gradients for " + std::to_string(roots.size()) + " tensors");
    }
    for (std::size_t i = 0; i < roots.size(); ++i) {
        run.addRoot(roots[i],
                    rootGradient(caller, roots[i], gradients.empty() ? Tensor() : gradients[i]));
    }
}

}  // namespace

void backward(std::span<const Tensor> roots, std::span<const Tensor> gradients, bool retain_graph,
              bool create_graph, Site) {
    BackwardRun run(retain_graph, create_graph);
    addRoots(run, "backward", roots, gradients);
    run.run();
}

std::vector<Tensor> grad(std::span<const Tensor> outputs, std::span<const Tensor> inputs,
                         std::span<const Tensor> grad_outputs, bool retain_graph, bool create_graph,
                         bool allow_unused, Site) {
    BackwardRun run(retain_graph, create_graph);
    for (const Tensor& input : inputs) {
        if (!input.requires_grad())
            throw AutogradError("grad: an input does not require a gradient");
        run.capture(input);
    }
    addRoots(run, "grad", outputs, grad_outputs);
    run.run();
    std::vector<Tensor> out;
    for (const BackwardRun::Capture& c : run.captures()) {
        if (!c.gradient.defined() && !allow_unused) {
            throw AutogradError(
                "grad: an input was not used to compute the outputs; pass allow_unused to get an "
                "undefined gradient for it");
        }
        out.push_back(c.gradient);
    }
    return out;
}

}  // namespace tapescope::engine
