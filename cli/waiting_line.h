// Says on a terminal that a command is at work, where nothing else is said for two seconds.
#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>

namespace treeline::cli {

/// While one lives, standard error shows how long the command has been at work, if that is a terminal: from two seconds on,
/// until its answer appears. A Progress takes the line's place.
class WaitingLine {
public:
    WaitingLine();
    ~WaitingLine();
    WaitingLine(const WaitingLine&) = delete;
    WaitingLine& operator=(const WaitingLine&) = delete;

private:
    void run();

    std::mutex mutex_;
    std::condition_variable wakes_;
    bool ends_ = false;
    std::thread thread_;
};

}  // namespace treeline::cli
