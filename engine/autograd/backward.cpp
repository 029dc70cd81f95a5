// SPDX-License-Identifier: Apache-2.0
#include "engine/autograd/accumulate_grad.h"
#include "engine/autograd/autograd.h"
#include "engine/autograd/node.h"
#include "engine/errors.h"
#include "engine/observe/context.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/shape.h"
#include "engine/tensor/tensor_impl.h"

#include <queue>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace tapescope::engine {

/// One pass from the roots: nodes run when all their gradients have arrived, the latest created
/// first.
class BackwardRun {
public:
    struct Capture {
        Edge edge;
        Tensor gradient;
    };

    BackwardRun(bool retainGraph, bool createGraph)
        : m_retainGraph(retainGraph), m_createGraph(createGraph) {}

    void addRoot(const Tensor& root, Tensor gradient) {
        const Edge edge = gradientEdge(root);
        m_roots.push_back(edge.node);
        m_pendingRoots.push_back({edge, std::move(gradient)});
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
        for (auto& [edge, gradient] : m_pendingRoots) deliver(edge, std::move(gradient));
        for (const Ref<Node>& root : m_roots) {
            State& state = m_states[root.get()];
            if (state.dependencies == 0 && !state.queued) enqueue(root.get(), state);
        }
        while (!m_ready.empty()) {
            Node* node = m_ready.top();
            m_ready.pop();
            runNode(*node);
        }
    }

private:
    struct State {
        int dependencies = 0;
        bool queued = false;
        bool needed = true;
        std::vector<Tensor> gradients;
    };
    struct Later {
        bool operator()(const Node* a, const Node* b) const {
            return a->sequence() < b->sequence();
        }
    };

    void countDependencies() {
        std::vector<Node*> stack;
        const auto visit = [&](Node* node) {
            if (m_states.try_emplace(node).second) {
                stack.push_back(node);
                m_order.push_back(node);
            }
        };
        for (const Ref<Node>& root : m_roots) visit(root.get());
        while (!stack.empty()) {
            Node* node = stack.back();
            stack.pop_back();
            for (const Edge& edge : node->edges()) {
                if (!edge.node) continue;
                visit(edge.node.get());
                ++m_states[edge.node.get()].dependencies;
            }
        }
    }

    /// needed = leads to a captured edge. In topological order from the leaves.
    void findNeeded() {
        std::unordered_set<const Node*> targets;
        for (const Capture& c : m_captures) targets.insert(c.edge.node.get());
        std::vector<Node*> order = topological();
        for (auto it = order.rbegin(); it != order.rend(); ++it) {
            State& state = m_states[*it];
            state.needed = targets.contains(*it);
            for (const Edge& edge : (*it)->edges()) {
                state.needed = state.needed || (edge.node && m_states[edge.node.get()].needed);
            }
        }
    }

    std::vector<Node*> topological() const {
        std::unordered_map<Node*, int> open;
        std::vector<Node*> ready;
        for (Node* node : m_order) {
            const int n = m_states.at(node).dependencies;
            if (n == 0)
                ready.push_back(node);
            else
                open[node] = n;
        }
        std::vector<Node*> order;
        while (!ready.empty()) {
            Node* node = ready.back();
            ready.pop_back();
            order.push_back(node);
            for (const Edge& edge : node->edges()) {
                if (edge.node && --open[edge.node.get()] == 0) ready.push_back(edge.node.get());
            }
        }
        return order;
    }

    void enqueue(Node* node, State& state) {
        state.queued = true;
        m_ready.push(node);
    }

    /// Adds to what already arrived at the edge; the sum is an operator call on behalf of the
    /// receiving node.
    void deliver(const Edge& edge, Tensor gradient) {
        if (!gradient.defined()) return;
        State& state = m_states[edge.node.get()];
        state.gradients.resize(static_cast<std::size_t>(edge.node->outputCount()));
        Tensor& slot = state.gradients[static_cast<std::size_t>(edge.slot)];
        if (!slot.defined()) {
            slot = std::move(gradient);
            return;
        }
        const FrameScope frame(*edge.node, {});
        slot = add(slot, gradient, edge.node->site());
    }

    void runNode(Node& node) {
        State state = std::move(m_states[&node]);
        state.gradients.resize(static_cast<std::size_t>(node.outputCount()));
        for (Capture& c : m_captures) {
            if (c.edge.node.get() == &node)
                c.gradient = state.gradients[static_cast<std::size_t>(c.edge.slot)];
        }
        std::vector<Tensor> gradInputs(node.edges().size());
        const bool any = std::any_of(state.gradients.begin(), state.gradients.end(),
                                     [](const Tensor& t) { return t.defined(); });
        const bool leaf = node.edges().empty();
        if (any && state.needed && !(leaf && !m_captures.empty())) {
            applyHooks(node, state.gradients);
            gradInputs = apply(node, state.gradients);
            if (!m_retainGraph && !m_createGraph) node.releaseSaved();
        }
        state.gradients.clear();
        for (std::size_t i = 0; i < node.edges().size(); ++i) {
            const Edge& edge = node.edges()[i];
            if (!edge.node) continue;
            deliver(edge, i < gradInputs.size() ? std::move(gradInputs[i]) : Tensor());
            State& next = m_states[edge.node.get()];
            if (--next.dependencies == 0 && !next.queued) enqueue(edge.node.get(), next);
        }
    }

    static void applyHooks(Node& node, std::vector<Tensor>& gradients) {
        for (const Node::Hook& hook : std::vector<Node::Hook>(node.m_hooks)) {
            Tensor& g = gradients[static_cast<std::size_t>(hook.slot)];
            if (!g.defined()) continue;
            if (Tensor replaced = hook.fn(g); replaced.defined()) g = std::move(replaced);
        }
        for (TensorImpl* retained : node.m_retained) {
            const Tensor& g = gradients[static_cast<std::size_t>(retained->autograd->outputNr)];
            if (g.defined()) retained->autograd->grad = g;
        }
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

    static std::vector<Tensor> apply(Node& node, const std::vector<Tensor>& gradients) {
        FrameScope scope(node, gradients);
        Context& context = Context::current();
        if (!context.watched() || !node.op()) return node.apply(gradients);
        const std::vector<Tensor> saved = node.savedForInspection();
        scope.frame().saved = saved;
        for (Observer* o : context.observers()) o->onBackwardBegin(scope.frame());
        std::vector<Tensor> gradInputs = node.apply(gradients);
        for (Observer* o : context.observers()) o->onBackwardEnd(scope.frame(), gradInputs);
        return gradInputs;
    }

    bool m_retainGraph;
    bool m_createGraph;
    std::vector<Ref<Node>> m_roots;
    std::vector<std::pair<Edge, Tensor>> m_pendingRoots;
    std::vector<Capture> m_captures;
    std::unordered_map<Node*, State> m_states;
    std::vector<Node*> m_order;
    std::priority_queue<Node*, std::vector<Node*>, Later> m_ready;
};

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
        return ones(root.sizes(), {.dtype = root.dtype()}, Site::none());
    }
    if (given.sizes() != root.sizes()) {
        throw ShapeError(std::string(caller) + ": the gradient has shape " +
                         toString(given.sizes()) + ", the tensor " + toString(root.sizes()));
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
