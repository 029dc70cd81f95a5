// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <mutex>
#include <span>
#include <string_view>

namespace tapescope::app {

/// A byte stream in both directions. read() is called by one thread, write() by any, one at a time;
/// close() by any.
class Transport {
public:
    virtual ~Transport() = default;
    /// Blocks until there is something; 0 at the end of the stream, on an error or after close().
    virtual std::size_t read(std::span<char> buffer) = 0;
    /// Writes all of it; false if the other side is gone or close() was called.
    virtual bool write(std::string_view bytes) = 0;
    /// Wakes and ends read() and write(), now and from now on.
    virtual void close() = 0;
};

/// Over file descriptors, which may be one (a socket). Does not own them. A blocked write ends at
/// close(), too: neither a pipe nor a socket is ever written to while it is full.
class FdTransport final : public Transport {
public:
    FdTransport(int readFd, int writeFd);
    ~FdTransport() override;
    FdTransport(const FdTransport&) = delete;
    FdTransport& operator=(const FdTransport&) = delete;

    std::size_t read(std::span<char> buffer) override;
    bool write(std::string_view bytes) override;
    void close() override;

private:
    /// False once closed.
    bool waitFor(int fd, short events) const;

    int m_readFd;
    int m_writeFd;
    int m_closedFd;  // an eventfd, readable from close() on
};

}  // namespace tapescope::app
