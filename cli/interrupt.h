// Ctrl-C during long work: an exception instead of an end on the spot, so that half-written files are removed.
#pragma once

namespace treeline {

/// SIGINT or SIGTERM came. The program ends by the same signal once everything is cleaned up.
struct Interrupted {
    int signal;
};

/// While one of these lives, the two signals are remembered instead of ending the program. Where the work can stop, it calls
/// check().
class InterruptGuard {
public:
    InterruptGuard();
    /// Gives the signals their meaning back.
    ~InterruptGuard();
    InterruptGuard(const InterruptGuard&) = delete;
    InterruptGuard& operator=(const InterruptGuard&) = delete;

    /// Throws Interrupted if one of the signals came.
    static void check();
};

}  // namespace treeline
