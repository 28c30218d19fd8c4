// How near do the CPU kernels that move states come to copying memory? Goal: 80 % of the copy bandwidth of the same run, where
// the states do not fit in the caches. Prints bytes a second of each kernel, counted as in the cost model, over those of a
// copy.
//
// A CPU does only a few FLOPs while it moves a byte, and reads or writes alone run at another rate than copies. So the second
// ratio is to a roofline measured in the same run, the longest of four times that no kernel can go below: the bytes read at the
// rate of the read probe, the bytes written at that of the write probe, as many of both as are paired at that of a copy, and
// the FLOPs at the machine's peak (fused multiply-adds in registers). The bound that holds is named. Where the ratio is near 1,
// nothing but fewer FLOPs or bytes helps. It may pass 1: memory written where it was read goes back in whole lines without
// being fetched again, which neither a write past the caches nor a copy does as fast on every machine.
//
// Kernels and probes alternate, and the median of the ratios of neighbours is taken: a machine that others use slows both. The
// peak alone is the best of all rounds, so that a disturbed probe of it cannot make a kernel look good.
#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <random>
#include <utility>
#include <vector>

#include "kernels/backend.h"
#include "kernels/cpu/instruction_sets.h"

using namespace treeline;
using namespace treeline::kernels;

namespace {

/// Mamba-2 2.7B, one layer, 24 sequences: states of 63 MB in fp32, 31 MB in bf16.
constexpr ScanShape layer{24, 1, 80, 64, 128, 1};
constexpr std::size_t copied_bytes = std::size_t{128} << 20;
constexpr int rounds = 11;

double seconds_of(const std::function<void()>& work) {
    const auto start = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Memory of the CPU, filled with numbers that decay to nothing special.
class Memory {
public:
    Memory(std::size_t elements, ElementType type) : data_(cpu_backend().allocate(elements * bytes_of(type))) {
        std::mt19937 random(1);
        for (std::size_t i = 0; i < elements; ++i) {
            const float value = static_cast<float>(random() % 2048) / 1024.0F - 1.0F;
            if (type == ElementType::bf16) {
                static_cast<Bf16*>(data_)[i] = to_bf16(value);
            } else {
                static_cast<float*>(data_)[i] = value;
            }
        }
    }
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;
    ~Memory() { cpu_backend().release(data_); }
    [[nodiscard]] void* get() const { return data_; }

private:
    void* data_;
};

/// The arguments of scans over `tokens` tokens of a sequence; fp32 tokens.
struct Arguments {
    ScanShape shape;
    ElementType state_type;
    Memory wide, narrow, dt, y, states, written, a;
    PackedTree tree;

    Arguments(const sim::DraftTree& draft, ElementType type, int states_written)
        : shape(layer),
          state_type(type),
          wide(rows(draft) * 80 * 64, ElementType::fp32),
          narrow(rows(draft) * 128, ElementType::fp32),
          dt(rows(draft) * 80, ElementType::fp32),
          y(rows(draft) * 80 * 64, ElementType::fp32),
          states(state_elements(), type),
          written(state_elements() * static_cast<std::size_t>(states_written), type),
          a(80, ElementType::fp32),
          tree(packed_tree(draft)) {
        shape.tokens = draft.verified_tokens();
        std::fill_n(static_cast<float*>(a.get()), 80, -1.0F);
    }

    static std::size_t rows(const sim::DraftTree& draft) {
        return std::size_t(layer.sequences) * std::size_t(draft.verified_tokens());
    }
    static std::size_t state_elements() { return std::size_t(layer.sequences) * 80 * 64 * 128; }
    [[nodiscard]] double state_bytes() const { return static_cast<double>(state_elements() * bytes_of(state_type)); }

    [[nodiscard]] ScanTokens tokens() const {
        ScanTokens result;
        result.x = {wide.get(), ElementType::fp32, 80 * 64};
        result.b = result.c = {narrow.get(), ElementType::fp32, 128};
        result.dt = {dt.get(), ElementType::fp32, 80};
        result.a = static_cast<const float*>(a.get());
        return result;
    }
    void scan(StateWrite write, bool with_output) const {
        Scan result;
        result.shape = shape;
        result.tokens = tokens();
        result.initial = {states.get(), state_type};
        result.y = {with_output ? y.get() : nullptr, ElementType::fp32, 80 * 64};
        result.write = write;
        result.written = {write == StateWrite::final ? states.get() : written.get(), state_type};
        cpu_backend().scan(result, {});
    }
    void tree_scan() const {
        TreeScan result;
        result.shape = shape;
        result.tokens = tokens();
        result.tree = tree.view();
        result.initial = {states.get(), state_type};
        result.y = {y.get(), ElementType::fp32, 80 * 64};
        cpu_backend().tree_scan(result, {});
    }
    /// x and y, B and C, dt: e·b·n·(2HP + 2GN + H) of the cost model.
    [[nodiscard]] double token_bytes() const { return 4.0 * shape.sequences * shape.tokens * (2.0 * 80 * 64 + 2 * 128 + 80); }
};

sim::DraftTree chain(int tokens) {
    std::vector<int> parents;
    for (int i = 0; i + 1 < tokens; ++i) {
        parents.push_back(i);
    }
    return sim::DraftTree::from_parents(parents);
}

sim::DraftTree full_binary(int levels) {
    return sim::DraftTree::from_child_counts(std::vector<int>((std::size_t{1} << (levels - 1)) - 1, 2));
}

struct Work {
    double read_bytes, written_bytes, flops;
};

/// Independent sums enough to hide the latency of a multiply-add on every machine that this may run on.
constexpr int sums = 8;
constexpr int multiply_adds = 200000;
using Vector [[gnu::vector_size(64)]] = float;

/// Fused multiply-adds in registers and nothing else, in one thread. The result keeps them from being left out, and sums that
/// begin differently from becoming one.
TREELINE_VECTORISED float multiply_and_add(float factor) {
    Vector sum[sums];
    for (int j = 0; j < sums; ++j) {
        sum[j] = Vector{} + factor * static_cast<float>(j);
    }
    for (int i = 0; i < multiply_adds; ++i) {
#pragma GCC unroll 8
        for (int j = 0; j < sums; ++j) {
            sum[j] = sum[j] * factor + factor;
        }
    }
    float result = 0.0F;
    for (const Vector& one : sum) {
        result += one[0];
    }
    return result;
}

/// What a byte read, written or copied and a FLOP take, in seconds.
struct Rates {
    double read, write, copy, flop;
};

/// The shortest time that the work can take, and what bounds it.
std::pair<double, const char*> roofline(const Work& work, const Rates& rates) {
    return std::max({std::pair(work.read_bytes * rates.read, "reads"), std::pair(work.written_bytes * rates.write, "writes"),
                     std::pair(2.0 * std::min(work.read_bytes, work.written_bytes) * rates.copy, "copies"),
                     std::pair(work.flops * rates.flop, "FLOPs")});
}

class Comparison {
public:
    Comparison() : from_(copied_bytes / 4, ElementType::fp32), to_(copied_bytes / 4, ElementType::fp32) {}

    /// Prints what share of a copy's bytes a second the kernel moves, and how near it comes to its roofline; returns the
    /// larger.
    double print(const char* name, const Work& work, const std::function<void()>& kernel) {
        std::vector<double> of_copy, of_roofline, times;
        kernel();
        for (int round = 0; round < rounds; ++round) {
            const Rates rates = measure();
            const double time = seconds_of(kernel);
            const double bytes = work.read_bytes + work.written_bytes;
            of_copy.push_back(bytes * rates.copy / time);
            of_roofline.push_back(roofline(work, rates).first / time);
            times.push_back(time);
        }
        for (std::vector<double>* values : {&of_copy, &of_roofline, &times}) {
            std::nth_element(values->begin(), values->begin() + rounds / 2, values->end());
        }
        const char* bound = roofline(work, best_).second;
        const double share = of_copy[rounds / 2], of_bound = of_roofline[rounds / 2];
        fmt::print("{:<40} {:6.2f} GB/s   {:5.2f} of a copy   {:5.2f} of its roofline ({})\n", name,
                   (work.read_bytes + work.written_bytes) / times[rounds / 2] * 1e-9, share, of_bound, bound);
        return std::max(share, of_bound);
    }
    void print_probes() {
        for (int round = 0; round < rounds; ++round) {
            measure();
        }
        fmt::print("probes: {:.1f} GB/s read, {:.1f} GB/s written, {:.1f} GB/s copied (both ways), {:.0f} GFLOP/s\n",
                   1e-9 / best_.read, 1e-9 / best_.write, 1e-9 / best_.copy, 1e-9 / best_.flop);
    }

private:
    Rates measure() {
        unsigned sum = 0;
        const double bytes = copied_bytes;
        const double read = seconds_of([&] { cpu_backend().read_probe({from_.get(), copied_bytes, &sum}, {}); });
        const double write = seconds_of([&] { cpu_backend().write_probe({to_.get(), copied_bytes, 7}, {}); });
        const double copy = seconds_of([&] { cpu_backend().copy_probe({to_.get(), from_.get(), copied_bytes}, {}); });
        const int threads = omp_get_max_threads();
        const double peak = seconds_of([&] {
#pragma omp parallel for schedule(static)
            for (int thread = 0; thread < threads; ++thread) {
                const float result = multiply_and_add(0.5F);
#pragma omp atomic
                total_ += result;
            }
        });
        const Rates now{read / bytes, write / bytes, copy / (2.0 * bytes), peak / (2.0 * 16 * sums * multiply_adds * threads)};
        best_ = {std::min(best_.read, now.read), std::min(best_.write, now.write), std::min(best_.copy, now.copy),
                 std::min(best_.flop, now.flop)};
        return {now.read, now.write, now.copy, best_.flop};
    }

    Memory from_, to_;
    Rates best_{1.0, 1.0, 1.0, 1.0};
    float total_ = 0.0F;
};

/// What a kernel moves and does. FLOPs are those of the form that it takes on a CPU: token by token five an element (decay,
/// input, output) and token; all tokens at once two for the output and two for the state of each.
Work scan_work(const Arguments& arguments, StateWrite write, bool with_output) {
    const double s = arguments.state_bytes(), tokens = arguments.shape.tokens;
    const double elements = s / static_cast<double>(bytes_of(arguments.state_type));
    const double written = write == StateWrite::none ? 0.0 : write == StateWrite::every ? tokens * s : s;
    const double half = 0.5 * arguments.token_bytes();
    const bool at_once = write != StateWrite::every;
    const double outputs = at_once && with_output ? 2.0 * tokens : 0.0;
    const double advances = at_once ? (write == StateWrite::final ? 2.0 * tokens + 1.0 : 0.0) : 5.0 * tokens;
    return {s + half, written + (with_output ? half : 0.0), elements * (outputs + advances)};
}

/// Products of the tokens with the states alone: those among the tokens are few.
Work tree_work(const Arguments& arguments) {
    const double s = arguments.state_bytes(), half = 0.5 * arguments.token_bytes();
    const double elements = s / static_cast<double>(bytes_of(arguments.state_type));
    return {s + half, half, 2.0 * arguments.shape.tokens * elements};
}

}  // namespace

int main() {
    Comparison comparison;
    comparison.print_probes();
    bool reached = true;
    for (const ElementType type : {ElementType::fp32, ElementType::bf16}) {
        fmt::print("states in {}\n", type == ElementType::bf16 ? "bf16" : "fp32");
        const Arguments one(chain(1), type, 1), five(chain(5), type, 5), small_tree(full_binary(4), type, 1),
            tree(full_binary(6), type, 1);
        const auto print = [&](const char* name, const Work& work, const std::function<void()>& kernel) {
            reached = comparison.print(name, work, kernel) >= 0.8 && reached;
        };
        const auto print_scan = [&](const char* name, const Arguments& arguments, StateWrite write, bool with_output) {
            print(name, scan_work(arguments, write, with_output), [&] { arguments.scan(write, with_output); });
        };
        print_scan("state update", one, StateWrite::final, true);
        print_scan("fused scan, 5 tokens, no state written", five, StateWrite::none, true);
        print_scan("fused scan, 5 tokens, final state", five, StateWrite::final, true);
        print_scan("fused scan, 5 tokens, every state", five, StateWrite::every, true);
        print_scan("replay of 5 tokens", five, StateWrite::final, false);
        print("tree scan, 15 tokens", tree_work(small_tree), [&] { small_tree.tree_scan(); });
        print("tree scan, 63 tokens", tree_work(tree), [&] { tree.tree_scan(); });
    }
    fmt::print("goal, at least 0.80 of a copy, or of the roofline where that is lower: {}\n", reached ? "reached" : "missed");
    return EXIT_SUCCESS;
}
