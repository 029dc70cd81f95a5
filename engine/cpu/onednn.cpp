// SPDX-License-Identifier: Apache-2.0
#include "engine/cpu/onednn.h"

#include "engine/errors.h"
#include "engine/tensor/storage.h"

#include <string>

namespace tapescope::engine::cpu {

namespace {

constexpr std::size_t kAlignment = 64;

std::size_t aligned(std::size_t bytes) {
    return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

}  // namespace

const dnnl::engine& oneDnnEngine() {
    static const auto* engine = new dnnl::engine(dnnl::engine::kind::cpu, 0);
    return *engine;
}

OneDnnPlan::OneDnnPlan(dnnl::primitive primitive, const dnnl::memory::desc& scratchpad,
                       std::span<const Operand> operands)
    : m_primitive(std::move(primitive)), m_stream(oneDnnEngine()) {
    const dnnl::engine& engine = oneDnnEngine();
    for (const Operand& operand : operands) {
        Bound bound;
        bound.output = operand.output;
        bound.ours = dnnl::memory(operand.ours, engine, DNNL_MEMORY_NONE);
        if (operand.ours == operand.theirs) {
            m_args.emplace(operand.arg, bound.ours);
        } else {
            bound.theirs = dnnl::memory(operand.theirs, engine, DNNL_MEMORY_NONE);
            bound.convert = operand.output ? dnnl::reorder(bound.theirs, bound.ours)
                                           : dnnl::reorder(bound.ours, bound.theirs);
            bound.offset = m_workspaceBytes;
            m_workspaceBytes += aligned(operand.theirs.get_size());
            m_args.emplace(operand.arg, bound.theirs);
        }
        m_operands.push_back(std::move(bound));
    }
    if (scratchpad.get_size() > 0) {
        m_scratchpad = dnnl::memory(scratchpad, engine, DNNL_MEMORY_NONE);
        m_scratchpadOffset = m_workspaceBytes;
        m_workspaceBytes += aligned(scratchpad.get_size());
        m_args.emplace(DNNL_ARG_SCRATCHPAD, m_scratchpad);
    }
}

void OneDnnPlan::run(std::span<void* const> data) {
    const Ref<Storage> workspace = Storage::create(m_workspaceBytes, MemoryRole::Temporary);
    auto* const base = static_cast<char*>(workspace->data());
    try {
        for (std::size_t i = 0; i < m_operands.size(); ++i) {
            Bound& bound = m_operands[i];
            bound.ours.set_data_handle(data[i]);
            if (!bound.convert) continue;
            bound.theirs.set_data_handle(base + bound.offset);
            if (!bound.output) bound.convert->execute(m_stream, bound.ours, bound.theirs);
        }
        if (m_scratchpad) m_scratchpad.set_data_handle(base + m_scratchpadOffset);
        m_primitive.execute(m_stream, m_args);
        for (Bound& bound : m_operands)
            if (bound.convert && bound.output)
                bound.convert->execute(m_stream, bound.theirs, bound.ours);
        m_stream.wait();
    } catch (const dnnl::error& error) {
        throw Error(std::string("oneDNN failed while running: ") + error.what());
    }
}

std::size_t PlanKeyHash::operator()(const PlanKey& key) const noexcept {
    std::uint64_t hash = 0xcbf29ce484222325U;  // FNV-1a
    for (const std::int64_t value : key.values) {
        hash ^= static_cast<std::uint64_t>(value);
        hash *= 0x100000001b3U;
        hash ^= hash >> 29;
    }
    return static_cast<std::size_t>(hash);
}

PlanCache& PlanCache::ofThisThread() {
    thread_local PlanCache cache;
    return cache;
}

}  // namespace tapescope::engine::cpu
