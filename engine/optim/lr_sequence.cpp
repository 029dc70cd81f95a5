// SPDX-License-Identifier: Apache-2.0
#include "engine/optim/lr_scheduler.h"

#include <algorithm>

namespace tapescope::engine::optim {
namespace {

void checkList(const char* who, const std::vector<LRScheduler*>& schedulers) {
    if (schedulers.empty()) throw Error(std::string(who) + ": it needs at least one scheduler");
    for (const LRScheduler* scheduler : schedulers) {
        if (!scheduler) throw Error(std::string(who) + ": a scheduler is null; leave it out");
        if (&scheduler->optimizer() != &schedulers.front()->optimizer()) {
            throw Error(std::string(who) +
                        ": its schedulers belong to different optimisers; make one for each");
        }
    }
}

}  // namespace

ChainedScheduler::ChainedScheduler(std::vector<LRScheduler*> schedulers)
    : m_schedulers(std::move(schedulers)) {
    checkList("ChainedScheduler", m_schedulers);
}

void ChainedScheduler::step() {
    for (LRScheduler* scheduler : m_schedulers) scheduler->step();
}

SequentialLR::SequentialLR(Optimizer& optimizer, std::vector<LRScheduler*> schedulers,
                           std::vector<std::int64_t> milestones)
    : LRScheduler(optimizer),
      m_schedulers(std::move(schedulers)),
      m_milestones(std::move(milestones)) {
    checkList("SequentialLR", m_schedulers);
    if (&m_schedulers.front()->optimizer() != &optimizer)
        throw Error("SequentialLR: its schedulers belong to another optimiser; give it theirs");
    if (m_milestones.size() + 1 != m_schedulers.size()) {
        throw Error("SequentialLR: " + std::to_string(m_schedulers.size()) +
                    " schedulers need one milestone less, but there are " +
                    std::to_string(m_milestones.size()));
    }
    if (!std::is_sorted(m_milestones.begin(), m_milestones.end()))
        throw Error("SequentialLR: milestones must ascend");
    // The schedulers have applied their rules for 0 at construction: only the first may.
    for (std::size_t group = 0; group < groups(); ++group) optimizer.set_lr(group, base(group));
    m_count = 0;
    for (LRScheduler* scheduler : m_schedulers) scheduler->undo();
    m_schedulers[running()]->start();
}

std::size_t SequentialLR::running() const {
    return static_cast<std::size_t>(
        std::upper_bound(m_milestones.begin(), m_milestones.end(), last_epoch()) -
        m_milestones.begin());
}

void SequentialLR::undo() {
    LRScheduler::undo();
    for (LRScheduler* scheduler : m_schedulers) scheduler->undo();
}

void SequentialLR::step() {
    ++m_count;
    const std::size_t index = running();
    LRScheduler& scheduler = *m_schedulers[index];
    if (index > 0 && m_milestones[index - 1] == last_epoch()) {
        scheduler.restart();
    } else {
        scheduler.step();
    }
}

}  // namespace tapescope::engine::optim
