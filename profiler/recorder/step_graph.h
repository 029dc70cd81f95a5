// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/nn/module.h"
#include "engine/observe/observer.h"
#include "profiler/recorder/identities.h"
#include "profiler/recorder/step_map.h"
#include "storage/tape/records.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace tapescope::profiler {

/// The graph of the running step: a node an operator call, an edge an input. Built from small
/// records without text, so that a step like the ones before costs no string; toGraph() spells it
/// out for the tape. Not thread-safe: the Recorder locks.
class StepGraph final {
public:
    explicit StepGraph(Identities& identities) : m_identities(identities) {}

    /// Names of leaves: parameters and buffers.
    void describe(const engine::nn::Module& root);

    void beginStep();
    /// The call becomes the next node.
    void opBegin(const engine::OpCall& call);
    void opEnd(const engine::OpCall& call);
    /// A block of memory went back: what lies there next is another tensor's.
    void memoryFreed(std::uintptr_t address);

    std::size_t size() const { return m_nodes.size(); }
    /// Equal for steps that run the same operators at the same places on the same shapes, also in
    /// different runs. Values of tensors and of float attributes do not count.
    std::uint64_t signature() const;
    /// Without id and step.
    storage::Graph toGraph(bool complete) const;

private:
    using TextId = std::uint32_t;
    struct Producer {
        std::int32_t seq = -1;
        std::uint8_t output = 0;
    };
    struct Input {
        Producer from;
        std::uint8_t to = 0;
        TextId leaf = 0;
        TextId type = 0;
    };
    struct Node {
        const OpIdentity* op = nullptr;
        std::uint64_t opId = 0;
        std::uint64_t hash = 0;
        storage::ModuleId module = 0;
        storage::SiteId site = 0;
        storage::Phase phase = storage::Phase::Other;
        std::int32_t forwardSeq = -1;
        TextId attrs = 0;
        std::uint32_t firstInput = 0;
        std::uint32_t inputCount = 0;
        std::uint32_t firstOutput = 0;
        std::uint32_t outputCount = 0;
        double flops = 0;
        std::int64_t bytes = 0;
    };

    std::int32_t seqOf(std::uint64_t opId) const;
    Input inputOf(const engine::Tensor& tensor, std::size_t position);
    TextId leafOf(const engine::Tensor& tensor);
    TextId typeOf(const engine::Tensor& tensor);
    TextId attrsOf(const OpIdentity& op, const engine::Attrs& attrs, std::uint64_t hash);
    /// The text behind a hash; make() spells it when it is new.
    template <class Make>
    TextId textOf(std::uint64_t hash, Make&& make);

    Identities& m_identities;
    std::vector<Node> m_nodes;
    std::vector<Input> m_inputs;
    std::vector<TextId> m_outputs;
    StepMap<Producer> m_producers;           // by tensor id
    StepMap<Producer> m_producersByAddress;  // by address of the data, for detached handles
    StepMap<TextId> m_unnamedLeaves;         // by tensor id
    std::unordered_map<std::string_view, int>
        m_leafCounts;  // unnamed leaves of each kind in this step

    std::unordered_map<std::uint64_t, TextId> m_parameters;            // by tensor id
    std::unordered_map<std::uintptr_t, TextId> m_parametersByAddress;  // by address of the data
    std::unordered_map<std::uint64_t, TextId> m_textIds;               // by hash
    std::vector<std::string> m_texts{""};
    std::size_t m_fixedTexts = 1;  ///< those before are parameters' names and stay
};

}  // namespace tapescope::profiler
