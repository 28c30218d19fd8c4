// Threads that do the same work. std::jthread is missing from libc++ before 20.
#pragma once

#include <thread>
#include <vector>

namespace treeline::numerics {

/// Whether this build can start threads: WebAssembly without them cannot.
#if defined(__EMSCRIPTEN__) && !defined(__EMSCRIPTEN_PTHREADS__)
inline constexpr bool has_threads = false;
#else
inline constexpr bool has_threads = true;
#endif

/// Calls work() on `threads` threads, the caller's among them, and returns when all have. work() throws nothing.
template <typename Work>
void run_in_team(unsigned threads, const Work& work) {
    struct Team {
        std::vector<std::thread> members;
        Team() = default;
        Team(const Team&) = delete;
        Team& operator=(const Team&) = delete;
        ~Team() {
            for (std::thread& member : members) {
                member.join();
            }
        }
    } team;
    if constexpr (has_threads) {
        for (unsigned i = 1; i < threads; ++i) {
            team.members.emplace_back(work);
        }
    }
    work();
}

}  // namespace treeline::numerics
