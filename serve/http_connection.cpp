#include "serve/http_connection.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <poll.h>
#include <sys/socket.h>

namespace treeline::serve {
namespace {

constexpr std::chrono::milliseconds look_at_stop{100};
constexpr std::chrono::milliseconds longest_farewell{1'000};

}  // namespace

bool Connection::wait(short events, Clock::time_point until) const {
    while (true) {
        const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now());
        if (left.count() <= 0) {
            return false;
        }
        pollfd descriptor{socket_, events, 0};
        const int ready = ::poll(&descriptor, 1, static_cast<int>(left.count()));
        if (ready > 0) {
            return true;
        }
        if (ready < 0 && errno != EINTR) {
            return false;
        }
    }
}

bool Connection::begins_request() {
    taken_ = 0;
    too_slow_ = too_large_ = false;
    write_until_.reset();
    const Clock::time_point until = Clock::now() + limits_.idle;
    while (position_ == filled_) {
        if (stopping_ || Clock::now() > until) {
            return false;
        }
        if (wait(POLLIN, std::min(until, Clock::now() + look_at_stop))) {
            read_until_ = Clock::now() + limits_.request;
            if (!fill()) {
                return false;
            }
        }
    }
    read_until_ = Clock::now() + limits_.request;
    return true;
}

bool Connection::fill() {
    if (!wait(POLLIN, read_until_)) {
        too_slow_ = true;
        return false;
    }
    const ssize_t got = ::recv(socket_, buffer_.data(), buffer_.size(), 0);
    position_ = 0;
    filled_ = static_cast<std::size_t>(std::max<ssize_t>(got, 0));
    return got > 0;
}

ssize_t Connection::read(char* to, std::size_t size) {
    if (taken_ >= limits_.head + limits_.body) {
        too_large_ = true;
        return -1;
    }
    if (position_ == filled_ && !fill()) {
        return too_slow_ ? -1 : 0;
    }
    const std::size_t part = std::min(size, filled_ - position_);
    std::memcpy(to, buffer_.data() + position_, part);
    position_ += part;
    taken_ += part;
    return static_cast<ssize_t>(part);
}

ssize_t Connection::write(const char* from, std::size_t size) {
    if (!write_until_) {
        write_until_ = Clock::now() + limits_.response;
    }
    for (std::size_t sent = 0; sent < size && !gave_up_;) {
        const bool ready = wait(POLLOUT, *write_until_);
        const ssize_t part = ready ? ::send(socket_, from + sent, size - sent, MSG_NOSIGNAL | MSG_DONTWAIT) : -1;
        const bool again = ready && part < 0 && (errno == EAGAIN || errno == EINTR);
        gave_up_ = part < 0 && !again;
        sent += static_cast<std::size_t>(std::max<ssize_t>(part, 0));
    }
    closes_ = closes_ || gave_up_;
    return gave_up_ ? -1 : static_cast<ssize_t>(size);
}

void Connection::finish() {
    ::shutdown(socket_, SHUT_WR);
    const Clock::time_point until = Clock::now() + longest_farewell;
    std::size_t thrown_away = 0;
    while (closes_ && !stopping_ && thrown_away < 16 * limits_.body && wait(POLLIN, until)) {
        const ssize_t got = ::recv(socket_, buffer_.data(), buffer_.size(), 0);
        if (got <= 0) {
            return;
        }
        thrown_away += static_cast<std::size_t>(got);
    }
}

void Connection::get_remote_ip_and_port(std::string& ip, int& port) const {
    ip.clear();  // nothing here asks for it
    port = 0;
}

void Connection::get_local_ip_and_port(std::string& ip, int& port) const {
    ip.clear();
    port = 0;
}

}  // namespace treeline::serve
