#include "cli/waiting_line.h"

#include <chrono>
#include <system_error>

#include <fmt/format.h>
#include <unistd.h>

#include "cli/progress.h"
#include "text/status_line.h"

namespace treeline::cli {

WaitingLine::WaitingLine() {
    if (::isatty(STDERR_FILENO) != 1) {
        return;
    }
    try {
        thread_ = std::thread([this] { run(); });
    } catch (const std::system_error&) {
        // The command can do without.
    }
}

WaitingLine::~WaitingLine() {
    if (thread_.joinable()) {
        {
            const std::lock_guard lock(mutex_);
            ends_ = true;
        }
        wakes_.notify_one();
        thread_.join();
    }
    text::clear_status();
}

void WaitingLine::run() {
    constexpr auto silent = std::chrono::seconds(2), between = std::chrono::seconds(1);
    const auto start = std::chrono::steady_clock::now();
    std::unique_lock lock(mutex_);
    for (auto next = start + silent; !wakes_.wait_until(lock, next, [this] { return ends_; }); next += between) {
        if (!Progress::is_shown()) {
            const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(next - start).count();
            text::show_status(fmt::format("at work for {} s", seconds));
        }
    }
}

}  // namespace treeline::cli
