#include "cli/interrupt.h"

#include <csignal>

namespace treeline::cli {
namespace {

volatile std::sig_atomic_t received = 0;

void remember(int signal) { received = signal; }

}  // namespace

InterruptGuard::InterruptGuard() {
    received = 0;
    std::signal(SIGINT, remember);
    std::signal(SIGTERM, remember);
}

InterruptGuard::~InterruptGuard() {
    std::signal(SIGINT, SIG_DFL);
    std::signal(SIGTERM, SIG_DFL);
}

void InterruptGuard::check() {
    if (received != 0) {
        throw Interrupted{received};
    }
}

}  // namespace treeline::cli
