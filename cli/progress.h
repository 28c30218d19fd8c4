// A progress bar on standard error, when that is a terminal.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace treeline::cli {

class Progress {
public:
    /// `unit`: what is counted.
    explicit Progress(std::string unit = "points");
    /// Clears the line.
    ~Progress();
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    /// Draws at most ten times per second.
    void show(std::uint64_t done, std::uint64_t total);

    /// Whether one has drawn, and is there still.
    static bool is_shown();

private:
    using Clock = std::chrono::steady_clock;
    std::string unit_;
    bool on_terminal_;
    bool drawn_ = false;
    Clock::time_point start_, last_;
};

/// "[########----------------]  33 %  3.3 M of 10 M points, 1.1 M/s, 6 s left".
std::string progress_line(std::uint64_t done, std::uint64_t total, double seconds_so_far, const std::string& unit = "points");

}  // namespace treeline::cli
