// Ctrl-C during long work: an exception instead of immediate termination, so that half-written files are removed.
#pragma once

namespace treeline::cli {

/// SIGINT, SIGTERM or another signal that ends programs arrived. The program ends by the same signal once everything is cleaned
/// up.
struct Interrupted {
    int signal;
    const char* what_is_left = "nothing was written";
};

/// From now on these signals remove half-written files, and say that they arrived, before they end the program. Those that are
/// ignored stay so.
void handle_interrupts();

/// While one of these lives, the first such signal is remembered instead. Work calls check() at points where it can stop.
class InterruptGuard {
public:
    InterruptGuard();
    ~InterruptGuard();
    InterruptGuard(const InterruptGuard&) = delete;
    InterruptGuard& operator=(const InterruptGuard&) = delete;

    /// Throws Interrupted if one of the signals arrived.
    static void check();
};

}  // namespace treeline::cli
