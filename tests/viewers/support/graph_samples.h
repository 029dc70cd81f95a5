// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "viewers/graph/graph_view.h"

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace tapescope::viewers::test {

/// Builds graphs as the recorder writes them: operators in order of execution, each with its
/// inputs.
class GraphMaker {
public:
    /// `path` "" is the root; parents come first.
    storage::ModuleId module(const std::string& path, const std::string& type,
                             std::int64_t parameters = 0) {
        storage::ModuleRow row;
        row.id = static_cast<storage::ModuleId>(data.modules.size() + 1);
        row.path = path;
        row.type = type;
        row.parameters = parameters;
        const std::size_t dot = path.rfind('.');
        for (const storage::ModuleRow& other : data.modules) {
            const bool above = dot == std::string::npos ? other.path.empty() && !path.empty()
                                                        : other.path == path.substr(0, dot);
            if (above) row.parent = other.id;
        }
        data.modules.push_back(row);
        return row.id;
    }

    storage::SiteId site(const std::string& file, std::uint32_t line) {
        storage::SiteRow row;
        row.id = static_cast<storage::SiteId>(data.sites.size() + 1);
        row.file = file;
        row.line = line;
        data.sites.push_back(row);
        return row.id;
    }

    static storage::GraphEdge leaf(const std::string& name, const std::string& type) {
        storage::GraphEdge edge;
        edge.leaf = name;
        edge.type = type;
        return edge;
    }
    storage::GraphEdge from(int seq) const {
        storage::GraphEdge edge;
        edge.fromSeq = seq;
        edge.type = data.graph.nodes[static_cast<std::size_t>(seq)].outputs;
        return edge;
    }

    int op(const std::string& name, storage::ModuleId module,
           std::vector<storage::GraphEdge> inputs, const std::string& outputs,
           storage::Phase phase = storage::Phase::Forward, int forward = -1) {
        storage::GraphNode node;
        node.seq = static_cast<std::uint32_t>(data.graph.nodes.size());
        node.op = name;
        node.module = module;
        node.phase = phase;
        node.forwardSeq = forward;
        node.outputs = outputs;
        node.inputs = std::move(inputs);
        for (std::size_t i = 0; i < node.inputs.size(); ++i) {
            node.inputs[i].toInput = static_cast<std::uint8_t>(i);
        }
        data.graph.nodes.push_back(node);
        return static_cast<int>(node.seq);
    }
    storage::GraphNode& node(int seq) { return data.graph.nodes[static_cast<std::size_t>(seq)]; }

    GraphDataPtr share() const { return std::make_shared<const GraphData>(data); }

    GraphData data;
};

/// One training step of a small convolutional network: two convolutions, pooling, two linear
/// layers, loss, its backward.
inline GraphMaker digitsCnn() {
    using storage::Phase;
    GraphMaker m;
    m.data.graph.id = 7;
    const auto root = m.module("", "DigitsCnn");
    const auto conv1 = m.module("conv1", "Conv2d", 320);
    const auto conv2 = m.module("conv2", "Conv2d", 18496);
    const auto pool = m.module("pool", "MaxPool2d");
    const auto fc1 = m.module("fc1", "Linear", 131200);
    const auto fc2 = m.module("fc2", "Linear", 1290);
    const auto leaf = GraphMaker::leaf;
    const int c1 = m.op("conv2d", conv1,
                        {leaf("input", "f32[64,1,8,8]"), leaf("conv1.weight", "f32[32,1,3,3]"),
                         leaf("conv1.bias", "f32[32]")},
                        "f32[64,32,8,8]");
    const int r1 = m.op("relu", root, {m.from(c1)}, "f32[64,32,8,8]");
    const int c2 =
        m.op("conv2d", conv2,
             {m.from(r1), leaf("conv2.weight", "f32[64,32,3,3]"), leaf("conv2.bias", "f32[64]")},
             "f32[64,64,8,8]");
    const int r2 = m.op("relu", root, {m.from(c2)}, "f32[64,64,8,8]");
    const int p = m.op("max_pool2d", pool, {m.from(r2)}, "f32[64,64,4,4], i64[64,64,4,4]");
    const int flat = m.op("flatten", root, {m.from(p)}, "f32[64,1024]");
    const int t1 = m.op("transpose", fc1, {leaf("fc1.weight", "f32[128,1024]")}, "f32[1024,128]");
    const int m1 =
        m.op("addmm", fc1, {leaf("fc1.bias", "f32[128]"), m.from(flat), m.from(t1)}, "f32[64,128]");
    const int r3 = m.op("relu", root, {m.from(m1)}, "f32[64,128]");
    const int t2 = m.op("transpose", fc2, {leaf("fc2.weight", "f32[10,128]")}, "f32[128,10]");
    const int m2 =
        m.op("addmm", fc2, {leaf("fc2.bias", "f32[10]"), m.from(r3), m.from(t2)}, "f32[64,10]");
    const int loss = m.op("cross_entropy", root, {m.from(m2), leaf("target", "i64[64]")}, "f32[]");
    const auto b = [&](const char* name, storage::ModuleId module,
                       std::vector<storage::GraphEdge> in, const char* out, int fwd) {
        return m.op(name, module, std::move(in), out, Phase::Backward, fwd);
    };
    const int g0 =
        b("cross_entropy_backward", root,
          {leaf("ones", "f32[]"), m.from(m2), leaf("target", "i64[64]")}, "f32[64,10]", loss);
    const int g1 = b("mm", fc2, {m.from(g0), m.from(t2)}, "f32[64,128]", m2);
    const int g2 = b("mm", fc2, {m.from(r3), m.from(g0)}, "f32[128,10]", m2);
    b("sum", fc2, {m.from(g0)}, "f32[10]", m2);
    b("transpose", fc2, {m.from(g2)}, "f32[10,128]", t2);
    const int g3 = b("relu_backward", root, {m.from(g1), m.from(r3)}, "f32[64,128]", r3);
    const int g4 = b("mm", fc1, {m.from(g3), m.from(t1)}, "f32[64,1024]", m1);
    const int g5 = b("mm", fc1, {m.from(flat), m.from(g3)}, "f32[1024,128]", m1);
    b("sum", fc1, {m.from(g3)}, "f32[128]", m1);
    b("transpose", fc1, {m.from(g5)}, "f32[128,1024]", t1);
    const int g6 = b("reshape", root, {m.from(g4)}, "f32[64,64,4,4]", flat);
    const int g7 = b("max_pool2d_backward", pool, {m.from(g6), m.from(p)}, "f32[64,64,8,8]", p);
    const int g8 = b("relu_backward", root, {m.from(g7), m.from(r2)}, "f32[64,64,8,8]", r2);
    const int g9 = b("conv2d_backward_input", conv2,
                     {m.from(g8), leaf("conv2.weight", "f32[64,32,3,3]")}, "f32[64,32,8,8]", c2);
    b("conv2d_backward_weight", conv2, {m.from(g8), m.from(r1)}, "f32[64,32,3,3]", c2);
    b("sum", conv2, {m.from(g8)}, "f32[64]", c2);
    const int g10 = b("relu_backward", root, {m.from(g9), m.from(r1)}, "f32[64,32,8,8]", r1);
    b("conv2d_backward_weight", conv1, {m.from(g10), leaf("input", "f32[64,1,8,8]")},
      "f32[32,1,3,3]", c1);
    b("sum", conv1, {m.from(g10)}, "f32[32]", c1);
    const auto s = m.site("plugins/models/digits_cnn.cpp", 42);
    m.node(c1).site = s;
    m.node(c1).attrs = "stride=[1, 1], padding=[1, 1]";
    for (storage::GraphNode& n : m.data.graph.nodes) {
        n.flops = n.op.starts_with("conv") ? 2.4e6 : n.op == "addmm" || n.op == "mm" ? 1.7e7 : 1e5;
        n.bytes = 1000 + 4000 * static_cast<std::int64_t>(n.op.size());
        m.data.timeNs.push_back(static_cast<double>(20'000 + 7'000 * (n.seq % 9)) + n.flops * 0.05);
    }
    return m;
}

/// A GPT-like step with at least `target` operators: blocks with attention and a feed-forward part,
/// residuals, one mask read by every block, a tied embedding, and the backward of it all.
inline GraphMaker gpt(int target, bool withBackward = true) {
    using storage::Phase;
    GraphMaker m;
    m.data.graph.id = 9;
    const auto root = m.module("", "GPT");
    const auto leaf = GraphMaker::leaf;
    const std::string act = "f32[4,256,384]";
    int perStep = withBackward ? target / 3 : target;
    int x = m.op("embedding", root,
                 {leaf("wte.weight", "f32[50257,384]"), leaf("tokens", "i64[4,256]")}, act);
    const int e2 =
        m.op("embedding", root, {leaf("wpe.weight", "f32[256,384]"), leaf("positions", "i64[256]")},
             "f32[256,384]");
    x = m.op("add", root, {m.from(x), m.from(e2)}, act);
    m.module("h", "ModuleList");
    const auto norm = [&](const std::string& path, int in) {
        const auto id = m.module(path, "LayerNorm", 768);
        return m.op(
            "layer_norm", id,
            {m.from(in), leaf(path + ".weight", "f32[384]"), leaf(path + ".bias", "f32[384]")},
            act);
    };
    const auto linear = [&](const std::string& path, int in, const std::string& out) {
        const auto id = m.module(path, "Linear", 147456);
        const int t =
            m.op("transpose", id, {leaf(path + ".weight", "f32[384,384]")}, "f32[384,384]");
        const int v = m.op("reshape", id, {m.from(in)}, "f32[1024,384]");
        const int a = m.op("addmm", id, {leaf(path + ".bias", "f32[384]"), m.from(v), m.from(t)},
                           "f32[1024,384]");
        return m.op("reshape", id, {m.from(a)}, out);
    };
    for (int block = 0; static_cast<int>(m.data.graph.nodes.size()) < perStep; ++block) {
        const std::string path = "h." + std::to_string(block);
        const auto id = m.module(path, "Block");
        const int n1 = norm(path + ".ln_1", x);
        const auto attn = m.module(path + ".attn", "CausalSelfAttention");
        const int qkv = linear(path + ".attn.c_attn", n1, "f32[4,256,1152]");
        int head[3];
        for (int& h : head) {
            const int v = m.op("slice", attn, {m.from(qkv)}, act);
            h = m.op("transpose", attn, {m.from(v)}, "f32[4,6,256,64]");
        }
        const int kt = m.op("transpose", attn, {m.from(head[1])}, "f32[4,6,64,256]");
        const int qk = m.op("matmul", attn, {m.from(head[0]), m.from(kt)}, "f32[4,6,256,256]");
        const int mask =
            m.op("masked_fill", attn, {m.from(qk), leaf("causal_mask", "bool[256,256]")},
                 "f32[4,6,256,256]");
        const int soft = m.op("softmax", attn, {m.from(mask)}, "f32[4,6,256,256]");
        const int av = m.op("matmul", attn, {m.from(soft), m.from(head[2])}, "f32[4,6,256,64]");
        const int out = linear(path + ".attn.c_proj", av, act);
        x = m.op("add", id, {m.from(x), m.from(out)}, act);
        const int n2 = norm(path + ".ln_2", x);
        const auto mlp = m.module(path + ".mlp", "MLP");
        const int f1 = linear(path + ".mlp.c_fc", n2, "f32[4,256,1536]");
        const int g = m.op("gelu", mlp, {m.from(f1)}, "f32[4,256,1536]");
        const int f2 = linear(path + ".mlp.c_proj", g, act);
        x = m.op("add", id, {m.from(x), m.from(f2)}, act);
    }
    x = norm("ln_f", x);
    const int head =
        m.op("matmul", root, {m.from(x), leaf("wte.weight", "f32[50257,384]")}, "f32[4,256,50257]");
    m.op("cross_entropy", root, {m.from(head), leaf("target", "i64[1024]")}, "f32[]");
    if (!withBackward) return m;
    // Each forward operator, last first: one gradient per input that is no leaf, one for its
    // parameters.
    const int forward = static_cast<int>(m.data.graph.nodes.size());
    std::map<int, int> gradient;  // of the output of a forward operator
    for (int seq = forward - 1; seq >= 0; --seq) {
        const storage::GraphNode node = m.node(seq);
        storage::GraphEdge in =
            gradient.contains(seq) ? m.from(gradient[seq]) : leaf("ones", "f32[]");
        bool parameters = false;
        for (const storage::GraphEdge& edge : node.inputs) {
            if (edge.fromSeq < 0) {
                parameters = parameters || edge.leaf.ends_with("weight");
                continue;
            }
            int g = m.op(node.op + "_backward", node.module, {in, m.from(edge.fromSeq)}, edge.type,
                         Phase::Backward, seq);
            if (gradient.contains(edge.fromSeq)) {
                g = m.op("add", node.module, {m.from(gradient[edge.fromSeq]), m.from(g)}, edge.type,
                         Phase::Backward, seq);
            }
            gradient[edge.fromSeq] = g;
        }
        if (parameters)
            m.op(node.op + "_backward_weight", node.module, {in}, "f32[384]", Phase::Backward, seq);
    }
    for (storage::GraphNode& n : m.data.graph.nodes) {
        n.flops = n.op.find("mm") != std::string::npos || n.op.starts_with("matmul") ? 3e8 : 1e6;
        n.bytes = 1 << 20;
        m.data.timeNs.push_back(n.flops / 200 + 5000 + 100 * (n.seq % 37));
    }
    return m;
}

}  // namespace tapescope::viewers::test
