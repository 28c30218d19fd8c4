// Ctrl-C during long work: an exception instead of immediate termination, so that half-written files are removed.
#pragma once

namespace treeline::cli {

/// SIGINT or SIGTERM arrived. The program ends by the same signal once everything is cleaned up.
struct Interrupted {
    int signal;
};

/// While one of these lives, the two signals are remembered instead of ending the program. Work calls check() at points where
/// it can stop.
class InterruptGuard {
public:
    InterruptGuard();
    /// Restores the signals' default handling.
    ~InterruptGuard();
    InterruptGuard(const InterruptGuard&) = delete;
    InterruptGuard& operator=(const InterruptGuard&) = delete;

    /// Throws Interrupted if one of the signals arrived.
    static void check();
};

}  // namespace treeline::cli
