// A connection whose every phase ends: cpp-httplib's own streams wait for each byte anew.
#pragma once

#include <array>
#include <atomic>
#include <chrono>

#include <httplib.h>

#include "serve/server.h"

namespace treeline::serve {

class Connection : public httplib::Stream {
public:
    Connection(socket_t socket, const HttpLimits& limits, const std::atomic<bool>& stopping)
        : socket_(socket), limits_(limits), stopping_(stopping) {}

    /// Waits for the first byte of a request; false where none comes in time, or the server stops. Its limits begin then.
    bool begins_request();
    /// After the present request no other is read.
    void close_afterwards() { closes_ = true; }
    [[nodiscard]] bool closes() const { return closes_; }
    /// Whether the present request came too slowly, or too much of it.
    [[nodiscard]] bool too_slow() const { return too_slow_; }
    [[nodiscard]] bool too_large() const { return too_large_; }
    /// Says that nothing follows, and reads for a moment what the client still sends, so that it gets to read the answer.
    void finish();

    [[nodiscard]] bool is_readable() const override { return position_ < filled_ || !too_slow_; }
    [[nodiscard]] bool is_writable() const override { return !gave_up_; }
    ssize_t read(char* to, std::size_t size) override;
    ssize_t write(const char* from, std::size_t size) override;
    void get_remote_ip_and_port(std::string& ip, int& port) const override;
    void get_local_ip_and_port(std::string& ip, int& port) const override;
    [[nodiscard]] socket_t socket() const override { return socket_; }

private:
    using Clock = std::chrono::steady_clock;
    bool wait(short events, Clock::time_point until) const;
    bool fill();

    socket_t socket_;
    const HttpLimits& limits_;
    const std::atomic<bool>& stopping_;
    std::array<char, 16384> buffer_{};
    std::size_t position_ = 0, filled_ = 0;
    std::size_t taken_ = 0;  ///< bytes of the present request
    Clock::time_point read_until_{};
    std::optional<Clock::time_point> write_until_;
    bool closes_ = false, too_slow_ = false, too_large_ = false, gave_up_ = false;
};

}  // namespace treeline::serve
