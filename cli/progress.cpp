#include "cli/progress.h"

#include <atomic>

#include <fmt/format.h>
#include <unistd.h>

#include "text/number_text.h"
#include "text/status_line.h"

namespace treeline::cli {
namespace {

constexpr std::size_t bar_width = 30;
constexpr auto redraw_after = std::chrono::milliseconds(100);

std::atomic<int> shown = 0;

std::string duration_text(double seconds) {
    if (seconds < 90.0) {
        return fmt::format("{:.0f} s", seconds);
    }
    return seconds < 5400.0 ? fmt::format("{:.0f} min", seconds / 60.0) : fmt::format("{:.1f} h", seconds / 3600.0);
}

}  // namespace

std::string progress_line(std::uint64_t done, std::uint64_t total, double seconds_so_far, const std::string& unit) {
    const double share = total > 0 ? static_cast<double>(done) / static_cast<double>(total) : 1.0;
    const auto filled = static_cast<std::size_t>(share * bar_width);
    std::string line = fmt::format(
        "[{}{}] {:3.0f} %  {} of {} {}", std::string(filled, '#'), std::string(bar_width - filled, '-'), 100.0 * share,
        text::parameters_text(static_cast<double>(done)), text::parameters_text(static_cast<double>(total)), unit);
    if (done > 0 && seconds_so_far > 0.0) {
        line += fmt::format(", {}/s", text::parameters_text(static_cast<double>(done) / seconds_so_far));
    }
    if (share > 0.0 && share < 1.0) {
        line += fmt::format(", {} left", duration_text(seconds_so_far * (1.0 - share) / share));
    }
    return line;
}

Progress::Progress(std::string unit)
    : unit_(std::move(unit)), on_terminal_(::isatty(STDERR_FILENO) == 1), start_(Clock::now()), last_(start_) {}

Progress::~Progress() {
    if (drawn_) {
        --shown;
        text::clear_status();
    }
}

bool Progress::is_shown() { return shown > 0; }

void Progress::show(std::uint64_t done, std::uint64_t total) {
    const Clock::time_point now = Clock::now();
    if (!on_terminal_ || now - last_ < redraw_after) {
        return;
    }
    last_ = now;
    shown += drawn_ ? 0 : 1;
    drawn_ = true;
    const double seconds = std::chrono::duration<double>(now - start_).count();
    text::show_status(progress_line(done, total, seconds, unit_));
}

}  // namespace treeline::cli
