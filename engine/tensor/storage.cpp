// SPDX-License-Identifier: Apache-2.0
#include "engine/tensor/storage.h"

#include "engine/errors.h"
#include "engine/memory/small_pool.h"
#include "engine/observe/context.h"

#include <new>

namespace tapescope::engine {

Ref<Storage> Storage::create(std::size_t sizeBytes, MemoryRole role) {
    Context& context = Context::current();
    CachingAllocator& allocator = context.allocator();
    CachingAllocator::Block block;
    try {
        block = allocator.allocate(sizeBytes);
    } catch (const OutOfMemoryError&) {
        if (context.watched()) {
            context.notifyMemory(MemoryEvent::Kind::OutOfMemory, role, nullptr, sizeBytes);
        }
        throw;
    }
    auto* storage = new (smallAllocate(sizeof(Storage))) Storage;
    storage->m_allocator = &allocator;
    storage->m_block = block;
    storage->m_sizeBytes = sizeBytes;
    storage->m_role = role;
    if (context.watched() && block.data) {
        context.notifyMemory(MemoryEvent::Kind::Alloc, role, block.data, block.sizeBytes);
    }
    return Ref<Storage>::adopt(storage);
}

void Storage::destroy(Storage* storage) noexcept {
    if (storage->m_block.data) {
        storage->m_allocator->deallocate(storage->m_block);
        Context& context = Context::current();
        if (context.watched()) {
            context.notifyMemory(MemoryEvent::Kind::Free, storage->m_role, storage->m_block.data,
                                 storage->m_block.sizeBytes);
        }
    }
    storage->~Storage();
    smallFree(storage, sizeof(Storage));
}

void Storage::setRole(MemoryRole role) {
    if (role == m_role) return;
    m_role = role;
    Context& context = Context::current();
    if (context.watched() && m_block.data) {
        context.notifyMemory(MemoryEvent::Kind::Role, role, m_block.data, m_block.sizeBytes);
    }
}

}  // namespace tapescope::engine
