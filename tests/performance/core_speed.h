// What a core of this machine does at this moment, so that a goal that was set for one core can be held in proportion by a
// slower one, or by one that other guests of the machine use as well.
#pragma once

#include <algorithm>
#include <cstdint>
#include <ctime>
#include <thread>
#include <vector>

namespace treeline::testing {

/// The core that the goals of the performance tests were set for: x86-64 with AVX2 at 2.8 GHz.
constexpr double reference_vector_flops = 44e9;  ///< independent additions and multiplications of doubles a second
constexpr double reference_additions = 11e9;     ///< independent additions of integers a second

inline double thread_seconds() {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

using TwoDoubles [[gnu::vector_size(16)]] = double;
using FourDoubles [[gnu::vector_size(32)]] = double;
using EightDoubles [[gnu::vector_size(64)]] = double;

/// Additions and multiplications a second of `chains` independent vectors, which the registers hold.
template <typename Vector, int chains>
[[gnu::always_inline]] inline double repeated_flops() {
    constexpr int repeats = 1 << 18, lanes = sizeof(Vector) / sizeof(double);
    Vector sums[chains];
    for (int c = 0; c < chains; ++c) {
        sums[c] = Vector{} + 1.0 + static_cast<double>(c);
    }
    const double start = thread_seconds();
    for (int i = 0; i < repeats; ++i) {
#pragma GCC unroll 16
        for (int c = 0; c < chains; ++c) {
            sums[c] = sums[c] * 0.999999 + 1e-6;
        }
    }
    const double rate = 2.0 * lanes * chains * repeats / (thread_seconds() - start);
    double kept = 0.0;
    for (const Vector& sum : sums) {
        kept += sum[0];
    }
    return kept != 0.0 ? rate : 0.0;
}

#if defined(__x86_64__) && defined(__GNUC__)
[[gnu::target("avx512f")]] inline double flops_of_eight_lanes() { return repeated_flops<EightDoubles, 16>(); }
[[gnu::target("avx2")]] inline double flops_of_four_lanes() { return repeated_flops<FourDoubles, 12>(); }
/// Of this thread with its widest vectors, without fused operations.
inline double vector_flops() {
    return __builtin_cpu_supports("avx512f") ? flops_of_eight_lanes()
           : __builtin_cpu_supports("avx2")  ? flops_of_four_lanes()
                                             : repeated_flops<TwoDoubles, 12>();
}
#else
inline double vector_flops() { return repeated_flops<TwoDoubles, 12>(); }
#endif

/// Additions of integers a second on this thread, six at a time that do not wait for each other.
inline double additions() {
    constexpr int repeats = 1 << 22;
    std::uint64_t a = 1, b = 2, c = 3, d = 4, e = 5, f = 6;
    const double start = thread_seconds();
#pragma GCC unroll 8
    for (int i = 0; i < repeats; ++i) {
        a += 3, b += 3, c += 3, d += 3, e += 3, f += 3;
#if defined(__GNUC__)
        asm volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d), "+r"(e), "+r"(f));  // not folded into one addition
#endif
    }
    return 6.0 * repeats / (thread_seconds() - start);
}

/// The mean over `threads` threads that run at once of the fastest of five repeats of `probe` in each.
template <typename Probe>
double speed_of_cores(unsigned threads, Probe probe) {
    std::vector<double> fastest(threads, 0.0);
    std::vector<std::thread> running;
    for (double& of_thread : fastest) {
        running.emplace_back([&of_thread, probe] {
            for (int repeat = 0; repeat < 5; ++repeat) {
                of_thread = std::max(of_thread, probe());
            }
        });
    }
    double sum = 0.0;
    for (unsigned i = 0; i < threads; ++i) {
        running[i].join();
        sum += fastest[i];
    }
    return sum / threads;
}

}  // namespace treeline::testing
