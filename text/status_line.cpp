#include "text/status_line.h"

#include <cstdio>
#include <mutex>
#include <string>

#include <unistd.h>

#include "text/plain_text.h"

namespace treeline::text {
namespace {

constexpr const char* cleared = "\r\033[K";

struct Status {
    std::mutex mutex;
    bool shown = false, ended = false;

    void clear() {
        if (shown) {
            static_cast<void>(std::fputs(cleared, stderr));
            shown = false;
        }
    }
};

Status& status() {
    static Status only;
    return only;
}

}  // namespace

void show_status(std::string_view line) {
    const std::lock_guard lock(status().mutex);
    if (status().ended || ::isatty(STDERR_FILENO) != 1) {
        return;
    }
    static_cast<void>(std::fputs((cleared + without_controls(line)).c_str(), stderr));
    static_cast<void>(std::fflush(stderr));
    status().shown = true;
}

void clear_status() {
    const std::lock_guard lock(status().mutex);
    status().clear();
}

void end_status() {
    const std::lock_guard lock(status().mutex);
    status().clear();
    status().ended = true;
}

void say(std::string_view sentence) {
    const std::lock_guard lock(status().mutex);
    status().clear();
    static_cast<void>(std::fputs((without_controls(sentence) + "\n").c_str(), stderr));
}

}  // namespace treeline::text
