// SPDX-License-Identifier: Apache-2.0
// Whole training steps: the models of torch_cases.py, layer by layer.
#include "bench/peer/peer_case.h"
#include "engine/autograd/autograd.h"
#include "engine/nn/nn.h"
#include "engine/observe/context.h"
#include "engine/ops/nn_functional.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/shape.h"
#include "engine/optim/adam.h"
#include "engine/optim/sgd.h"

#include <cmath>
#include <limits>
#include <memory>
#include <utility>

namespace tapescope::bench {
namespace {

using namespace engine;

std::shared_ptr<nn::Conv2d> conv(std::int64_t in, std::int64_t out, std::int64_t kernel,
                                 std::int64_t stride) {
    return nn::make<nn::Conv2d>(
        in, out, kernel, nn::Conv2dOptions{.stride = stride, .padding = kernel / 2, .bias = false});
}

/// ResNet's block: basic (two 3×3) or bottleneck (1×1, 3×3, 1×1 to four times the width).
class Residual final : public nn::Module {
public:
    Residual(std::int64_t in, std::int64_t width, std::int64_t stride, bool bottleneck)
        : Module("Residual") {
        const std::int64_t out = bottleneck ? 4 * width : width;
        const auto add = [&](std::shared_ptr<nn::Conv2d> layer, std::int64_t channels, bool last) {
            m_body->push_back(std::move(layer));
            m_body->push_back(nn::make<nn::BatchNorm2d>(channels));
            if (!last) m_body->push_back(nn::make<nn::ReLU>());
        };
        m_body = register_module<nn::Sequential>("body");
        if (bottleneck) {
            add(conv(in, width, 1, 1), width, false);
            add(conv(width, width, 3, stride), width, false);
            add(conv(width, out, 1, 1), out, true);
        } else {
            add(conv(in, width, 3, stride), width, false);
            add(conv(width, width, 3, 1), width, true);
        }
        if (stride == 1 && in == out) return;
        m_down = register_module<nn::Sequential>("down", conv(in, out, 1, stride),
                                                 nn::make<nn::BatchNorm2d>(out));
    }
    Tensor forward(const Tensor& x) override {
        return relu(add(m_body(x), m_down ? m_down(x) : x));
    }

private:
    nn::ModuleRef<nn::Sequential> m_body;
    nn::ModuleRef<nn::Sequential> m_down;
};

std::shared_ptr<nn::Sequential> resnet(std::vector<std::int64_t> blocks, bool bottleneck) {
    auto net = nn::make<nn::Sequential>(conv(3, 64, 7, 2), nn::make<nn::BatchNorm2d>(64),
                                        nn::make<nn::ReLU>(), nn::make<nn::MaxPool2d>(3, 2, 1));
    std::int64_t in = 64;
    for (std::size_t stage = 0; stage < blocks.size(); ++stage) {
        const std::int64_t width = 64 << stage;
        for (std::int64_t i = 0; i < blocks[stage]; ++i) {
            net->push_back(nn::make<Residual>(in, width, i == 0 && stage > 0 ? 2 : 1, bottleneck));
            in = bottleneck ? 4 * width : width;
        }
    }
    net->push_back(nn::make<nn::AdaptiveAvgPool2d>(1));
    net->push_back(nn::make<nn::Flatten>());
    net->push_back(nn::make<nn::Linear>(in, 1000));
    return net;
}

std::shared_ptr<nn::Sequential> smallCnn() {
    auto net = nn::make<nn::Sequential>();
    const std::int64_t channels[] = {3, 32, 32, 64, 64};
    for (int i = 0; i < 4; ++i) {
        net->push_back(conv(channels[i], channels[i + 1], 3, i == 2 ? 2 : 1));
        net->push_back(nn::make<nn::BatchNorm2d>(channels[i + 1]));
        net->push_back(nn::make<nn::ReLU>());
    }
    net->push_back(nn::make<nn::AdaptiveAvgPool2d>(1));
    net->push_back(nn::make<nn::Flatten>());
    net->push_back(nn::make<nn::Linear>(64, 10));
    return net;
}

class GptBlock final : public nn::Module {
public:
    GptBlock(std::int64_t dim, std::int64_t heads, Tensor mask)
        : Module("GptBlock"), m_heads(heads), m_mask(std::move(mask)) {
        m_ln1 = register_module<nn::LayerNorm>("ln1", Dims{dim});
        m_qkv = register_module<nn::Linear>("qkv", dim, 3 * dim);
        m_proj = register_module<nn::Linear>("proj", dim, dim);
        m_ln2 = register_module<nn::LayerNorm>("ln2", Dims{dim});
        m_fc = register_module<nn::Linear>("fc", dim, 4 * dim);
        m_out = register_module<nn::Linear>("out", 4 * dim, dim);
    }
    Tensor forward(const Tensor& input) override {
        const std::int64_t batch = input.size(0);
        const std::int64_t length = input.size(1);
        const std::int64_t dim = input.size(2);
        const Tensor qkv = m_qkv(m_ln1(input));
        const auto part = [&](std::int64_t i) {
            return transpose(
                reshape(narrow(qkv, 2, i * dim, dim), {batch, length, m_heads, dim / m_heads}), 1,
                2);
        };
        Tensor scores = matmul(part(0), transpose(part(1), -2, -1));
        scores = mul(scores, 1 / std::sqrt(static_cast<double>(dim / m_heads)));
        scores = masked_fill(scores, m_mask, -std::numeric_limits<double>::infinity());
        const Tensor mixed = matmul(softmax(scores, -1), part(2));
        const Tensor x = add(input, m_proj(reshape(transpose(mixed, 1, 2), {batch, length, dim})));
        return add(x, m_out(gelu(m_fc(m_ln2(x)))));
    }

private:
    std::int64_t m_heads;
    Tensor m_mask;
    nn::ModuleRef<nn::LayerNorm> m_ln1, m_ln2;
    nn::ModuleRef<nn::Linear> m_qkv, m_proj, m_fc, m_out;
};

class Gpt final : public nn::Module {
public:
    static constexpr std::int64_t kVocabulary = 256, kDim = 384, kLayers = 6, kHeads = 6,
                                  kLength = 256;
    Gpt() : Module("Gpt") {
        m_token = register_module<nn::Embedding>("token", kVocabulary, kDim);
        m_place = register_module<nn::Embedding>("place", kLength, kDim);
        const Tensor at = arange(0, kLength);
        const Tensor mask = gt(reshape(at, {1, kLength}), reshape(at, {kLength, 1}));
        for (std::int64_t i = 0; i < kLayers; ++i)
            m_blocks.push_back(
                register_module<GptBlock>("block" + std::to_string(i), kDim, kHeads, mask));
        m_norm = register_module<nn::LayerNorm>("norm", Dims{kDim});
        m_head = register_module<nn::Linear>("head", kDim, kVocabulary, false);
    }
    Tensor forward(const Tensor& tokens) override {
        Tensor x = add(m_token(tokens), m_place(arange(0, kLength)));
        for (const auto& block : m_blocks) x = block(x);
        return reshape(m_head(m_norm(x)), {-1, kVocabulary});
    }

private:
    nn::ModuleRef<nn::Embedding> m_token, m_place;
    std::vector<nn::ModuleRef<GptBlock>> m_blocks;
    nn::ModuleRef<nn::LayerNorm> m_norm;
    nn::ModuleRef<nn::Linear> m_head;
};

/// A language model over tokens i64[length, batch].
class LstmModel final : public nn::Module {
public:
    static constexpr std::int64_t kVocabulary = 256, kWidth = 256, kHidden = 512, kLength = 64,
                                  kBatch = 32;
    LstmModel() : Module("LstmModel") {
        m_token = register_module<nn::Embedding>("token", kVocabulary, kWidth);
        m_lstm = register_module<nn::LSTM>("lstm", kWidth, kHidden,
                                           nn::RecurrentOptions{.num_layers = 2});
        m_head = register_module<nn::Linear>("head", kHidden, kVocabulary);
    }
    Tensor forward(const Tensor& tokens) override {
        return reshape(m_head(m_lstm(m_token(tokens))), {-1, kVocabulary});
    }

private:
    nn::ModuleRef<nn::Embedding> m_token;
    nn::ModuleRef<nn::LSTM> m_lstm;
    nn::ModuleRef<nn::Linear> m_head;
};

/// Random class numbers below `classes`.
Tensor labels(const Dims& sizes, double classes) {
    return to(floor(mul(rand(sizes), classes)), DType::I64);
}

/// One step on a fixed batch. optimizer may be null: then only gradients are made.
std::function<void()> stepOf(std::shared_ptr<nn::Module> net, Tensor x, Tensor y,
                             std::shared_ptr<optim::Optimizer> optimizer) {
    return [=] {
        net->zero_grad();
        cross_entropy(net->call(x), y).backward();
        if (optimizer) optimizer->step();
    };
}

}  // namespace

std::vector<PeerCase> trainingCases() {
    return {
        {"train_mlp",
         [] {
             auto net =
                 nn::make<nn::Sequential>(nn::make<nn::Linear>(784, 512), nn::make<nn::ReLU>(),
                                          nn::make<nn::Linear>(512, 512), nn::make<nn::ReLU>(),
                                          nn::make<nn::Linear>(512, 10));
             auto adam =
                 std::make_shared<optim::Adam>(net->parameters(), optim::AdamOptions{.lr = 1e-3});
             return stepOf(net, randn({64, 784}), labels({64}, 10), adam);
         }},
        {"train_cnn",
         [] {
             auto net = smallCnn();
             auto sgd = std::make_shared<optim::SGD>(
                 net->parameters(), optim::SgdOptions{.lr = 1e-2, .momentum = 0.9});
             return stepOf(net, randn({64, 3, 32, 32}), labels({64}, 10), sgd);
         }},
        {"train_resnet18",
         [] {
             return stepOf(resnet({2, 2, 2, 2}, false), randn({4, 3, 224, 224}), labels({4}, 1000),
                           nullptr);
         }},
        {"train_resnet50",
         [] {
             return stepOf(resnet({3, 4, 6, 3}, true), randn({4, 3, 224, 224}), labels({4}, 1000),
                           nullptr);
         }},
        {"train_lstm",
         [] {
             auto net = nn::make<LstmModel>();
             auto adam =
                 std::make_shared<optim::Adam>(net->parameters(), optim::AdamOptions{.lr = 1e-3});
             constexpr std::int64_t kTokens = LstmModel::kLength * LstmModel::kBatch;
             return stepOf(net, labels({LstmModel::kLength, LstmModel::kBatch}, 256),
                           labels({kTokens}, 256), adam);
         }},
        {"train_gpt",
         [] {
             auto net = nn::make<Gpt>();
             auto adam = std::make_shared<optim::AdamW>(
                 net->parameters(), optim::AdamOptions{.lr = 3e-4, .weight_decay = 0.01});
             return stepOf(net, labels({4, Gpt::kLength}, 256), labels({4 * Gpt::kLength}, 256),
                           adam);
         }},
    };
}

}  // namespace tapescope::bench
