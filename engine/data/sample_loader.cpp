// SPDX-License-Identifier: Apache-2.0
#include "engine/data/sample_loader.h"

#include "engine/observe/context.h"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <omp.h>
#include <thread>
#include <utility>
#include <vector>

namespace tapescope::engine::data {
namespace {

/// A batch's own seed: neighbours share nothing.
std::uint64_t seedOf(std::uint64_t epochSeed, std::int64_t batch) {
    const auto words = Generator::philox(epochSeed, static_cast<std::uint64_t>(batch));
    return std::uint64_t{words[0]} << 32U | words[1];
}

/// Rethrows the exception being handled as a SampleError with it nested.
[[noreturn]] void rethrowAt(std::int64_t index) {
    try {
        throw;
    } catch (const Interrupted&) {
        throw;
    } catch (const SampleError&) {
        throw;
    } catch (const std::exception& error) {
        std::throw_with_nested(SampleError(index, error.what()));
    } catch (...) {
        std::throw_with_nested(SampleError(index, "something that is no std::exception"));
    }
}

/// The current generator starts from seed until the scope ends, and then goes on as before.
class SeedScope {
public:
    explicit SeedScope(std::uint64_t seed)
        : m_generator(Context::current().generator()), m_saved(m_generator.state()) {
        m_generator.manual_seed(seed);
    }
    ~SeedScope() { m_generator.setState(m_saved); }
    SeedScope(const SeedScope&) = delete;
    SeedScope& operator=(const SeedScope&) = delete;

private:
    Generator& m_generator;
    Generator::State m_saved;
};

}  // namespace

SampleError::SampleError(std::int64_t index, const std::string& reason)
    : DataError(index < 0 ? "SampleLoader: the dataset failed: " + reason
                          : "SampleLoader: sample " + std::to_string(index) + " failed: " + reason),
      m_index(index) {}

/// What an epoch's batches are made from; shared by the workers and never changed but for the
/// stream, which has one user.
struct SampleLoader::Job {
    DatasetPtr dataset;
    IterableDataset::Stream stream;
    Collate collate;
    std::vector<Indices> batches;
    std::int64_t batchSize = 1;
    bool dropLast = false;
    std::uint64_t seed = 0;

    /// None at the end of the epoch.
    std::optional<Sample> make(std::int64_t number) {
        const NoGradGuard guard;
        const PhaseScope phase(Phase::Data);
        const SeedScope seeded(seedOf(seed, number));
        if (stream) return fromStream();
        if (number >= static_cast<std::int64_t>(batches.size())) return std::nullopt;
        return fromIndices(batches[static_cast<std::size_t>(number)]);
    }

private:
    Sample fromIndices(const Indices& indices) const {
        if (!collate) {
            try {
                return dataset->batch(indices);
            } catch (const Interrupted&) {
                throw;
            } catch (...) {
                // Which sample it was: the first one that fails alone.
                for (const std::int64_t index : indices) get(index);
                rethrowAt(-1);
            }
        }
        std::vector<Sample> samples;
        for (const std::int64_t index : indices) samples.push_back(get(index));
        return collated(samples);
    }
    Sample get(std::int64_t index) const {
        try {
            return dataset->get(index);
        } catch (...) {
            rethrowAt(index);
        }
    }
    Sample collated(std::span<const Sample> samples) const {
        try {
            return collate ? collate(samples) : stackSamples(samples);
        } catch (...) {
            rethrowAt(-1);
        }
    }
    std::optional<Sample> fromStream() {
        std::vector<Sample> samples;
        try {
            while (static_cast<std::int64_t>(samples.size()) < batchSize) {
                std::optional<Sample> sample = stream();
                if (!sample) break;
                samples.push_back(std::move(*sample));
            }
        } catch (...) {
            rethrowAt(-1);
        }
        const bool full = static_cast<std::int64_t>(samples.size()) == batchSize;
        if (samples.empty() || (!full && dropLast)) return std::nullopt;
        return collated(samples);
    }
};

/// Threads that make the batches 0, 1, 2 … of a job, at most `ahead` beyond the one asked for.
class SampleLoader::Workers {
public:
    Workers(std::shared_ptr<Job> job, std::int64_t count, std::int64_t ahead)
        : m_job(std::move(job)),
          m_allocator(Context::current().allocator()),
          m_slots(static_cast<std::size_t>(ahead)) {
        for (std::int64_t i = 0; i < count; ++i)
            m_threads.emplace_back([this](const std::stop_token& stop) { run(stop); });
    }
    ~Workers() {
        for (std::jthread& thread : m_threads) thread.request_stop();
        m_room.notify_all();
        m_threads.clear();  // joins
    }
    Workers(const Workers&) = delete;
    Workers& operator=(const Workers&) = delete;

    /// Batch `number`; to be asked for in order.
    std::optional<Sample> take(std::int64_t number) {
        std::unique_lock lock(m_mutex);
        Slot& slot = slotOf(number);
        m_ready.wait(lock, [&] { return slot.ready; });
        Slot result = std::exchange(slot, Slot{});
        ++m_taken;
        lock.unlock();
        m_room.notify_all();
        if (result.error) std::rethrow_exception(result.error);
        return std::move(result.batch);
    }

private:
    struct Slot {
        bool ready = false;
        std::optional<Sample> batch;
        std::exception_ptr error;
    };
    Slot& slotOf(std::int64_t number) {
        return m_slots[static_cast<std::size_t>(number) % m_slots.size()];
    }

    void run(const std::stop_token& stop) {
        omp_set_num_threads(1);  // of this thread: workers share the machine with the model
        Context context(m_allocator);
        const ContextScope scope(context);
        for (;;) {
            std::int64_t number = 0;
            {
                std::unique_lock lock(m_mutex);
                const auto ahead = static_cast<std::int64_t>(m_slots.size());
                if (!m_room.wait(lock, stop, [&] { return m_next < m_taken + ahead; })) return;
                if (stop.stop_requested()) return;
                number = m_next++;
            }
            Slot made;
            made.ready = true;
            try {
                made.batch = m_job->make(number);
            } catch (...) {
                made.error = std::current_exception();
            }
            const bool last = !made.batch.has_value();
            {
                const std::lock_guard lock(m_mutex);
                slotOf(number) = std::move(made);
            }
            m_ready.notify_one();
            if (last) return;
        }
    }

    std::shared_ptr<Job> m_job;
    CachingAllocator& m_allocator;
    std::mutex m_mutex;
    std::condition_variable_any m_room;
    std::condition_variable m_ready;
    std::vector<Slot> m_slots;  // guarded by m_mutex, as what follows
    std::int64_t m_next = 0;    // to be begun
    std::int64_t m_taken = 0;
    std::vector<std::jthread> m_threads;
};

SampleLoader::SampleLoader(DatasetPtr dataset, SampleLoaderOptions options)
    : m_dataset(std::move(dataset)), m_options(std::move(options)) {
    if (!m_dataset) throw Error("SampleLoader: the dataset is null");
    if (m_options.batch_size < 1 || m_options.num_workers < 0 || m_options.prefetch_factor < 1) {
        throw Error(
            "SampleLoader: batch_size and prefetch_factor must be at least 1 and "
            "num_workers at least 0");
    }
    if (m_options.batch_sampler && (m_options.batch_size != 1 || m_options.shuffle ||
                                    m_options.drop_last || m_options.sampler)) {
        throw Error(
            "SampleLoader: a batch_sampler excludes batch_size, shuffle, drop_last and "
            "sampler");
    }
    if (m_options.sampler && m_options.shuffle)
        throw Error("SampleLoader: a sampler excludes shuffle");
    m_batches = m_options.batch_sampler;
    if (m_batches) return;
    std::shared_ptr<const Sampler> sampler = m_options.sampler;
    if (!sampler && m_options.shuffle) {
        sampler = std::make_shared<RandomSampler>(m_dataset->size());
    } else if (!sampler) {
        sampler = std::make_shared<SequentialSampler>(m_dataset->size());
    }
    m_batches =
        std::make_shared<FixedBatchSampler>(sampler, m_options.batch_size, m_options.drop_last);
}

SampleLoader::SampleLoader(std::shared_ptr<const IterableDataset> dataset,
                           SampleLoaderOptions options)
    : m_iterable(std::move(dataset)), m_options(std::move(options)) {
    if (!m_iterable) throw Error("SampleLoader: the dataset is null");
    if (m_options.batch_size < 1 || m_options.num_workers < 0 || m_options.prefetch_factor < 1) {
        throw Error(
            "SampleLoader: batch_size and prefetch_factor must be at least 1 and "
            "num_workers at least 0");
    }
    if (m_options.shuffle || m_options.sampler || m_options.batch_sampler)
        throw Error("SampleLoader: an iterable dataset has no order that could be sampled");
    // A stream has an order, so one thread reads it.
    m_options.num_workers = std::min<std::int64_t>(m_options.num_workers, 1);
}

SampleLoader::~SampleLoader() = default;

void SampleLoader::stop() {
    m_workers.reset();
    m_job.reset();
}

void SampleLoader::startEpoch() {
    stop();
    Generator& generator = Context::current().generator();
    const std::uint64_t high = generator.next32();
    const std::uint64_t low = generator.next32();
    m_job = std::make_shared<Job>();
    m_job->seed = high << 32U | low;
    m_job->dataset = m_dataset;
    m_job->collate = m_options.collate;
    m_job->batchSize = m_options.batch_size;
    m_job->dropLast = m_options.drop_last;
    Generator order(m_job->seed);
    if (m_iterable) {
        m_job->stream = m_iterable->stream(m_epoch);
    } else {
        m_job->batches = m_batches->epoch(m_epoch, order);
    }
    m_next = 0;
    ++m_epoch;
    if (m_options.num_workers > 0) {
        m_workers = std::make_unique<Workers>(m_job, m_options.num_workers,
                                              m_options.num_workers * m_options.prefetch_factor);
    }
}

std::optional<Sample> SampleLoader::next() {
    if (!m_job) startEpoch();
    std::optional<Sample> batch;
    try {
        batch = m_workers ? m_workers->take(m_next) : m_job->make(m_next);
    } catch (...) {
        stop();
        throw;
    }
    ++m_next;
    if (!batch) {
        stop();
        return batch;
    }
    Context& context = Context::current();
    for (const Tensor& tensor : *batch) {
        if (!tensor.defined()) continue;
        // Observers of this Context have not seen the worker allocate what will be freed here.
        if (m_workers && context.watched() && tensor.storage()->data()) {
            context.notifyMemory(MemoryEvent::Kind::Alloc, tensor.storage()->role(),
                                 tensor.storage()->data(), tensor.storage()->blockBytes());
        }
        tensor.set_role(MemoryRole::Input);
    }
    return batch;
}

SampleLoader::Iterator SampleLoader::begin() {
    startEpoch();
    Iterator it;
    it.m_loader = this;
    it.m_batch = next();
    return it;
}

}  // namespace tapescope::engine::data
