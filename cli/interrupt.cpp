#include "cli/interrupt.h"

#include <unistd.h>

#include <csignal>
#include <string_view>

#include "text/output_file.h"

namespace treeline::cli {
namespace {

volatile std::sig_atomic_t guarded = 0;
volatile std::sig_atomic_t received = 0;

/// Long work stops where it can; anything else, and whoever is asked twice, ends here.
void on_signal(int signal) {
    if (guarded != 0 && received == 0) {
        received = signal;
        return;
    }
    text::remove_temporary_files();
    std::string_view sentence = "\ntreeline: interrupted\n";  // a terminal may have a line that is still being written
    sentence.remove_prefix(::isatty(STDERR_FILENO) != 0 ? 0 : 1);
    static_cast<void>(::write(STDERR_FILENO, sentence.data(), sentence.size()) == 0);  // whether it can be said or not
    std::signal(signal, SIG_DFL);
    std::raise(signal);
}

}  // namespace

void handle_interrupts() {
    // All that end a program by default and are no fault of it (signal(7)).
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGALRM, SIGVTALRM, SIGPROF, SIGXCPU, SIGUSR1, SIGUSR2}) {
        if (std::signal(signal, on_signal) == SIG_IGN) {
            std::signal(signal, SIG_IGN);  // nohup, or a shell's background
        }
    }
}

InterruptGuard::InterruptGuard() {
    received = 0;
    guarded = 1;
}

InterruptGuard::~InterruptGuard() { guarded = 0; }

void InterruptGuard::check() {
    if (received != 0) {
        throw Interrupted{received};
    }
}

}  // namespace treeline::cli
