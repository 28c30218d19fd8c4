// How near do the CPU kernels that move states come to copying memory? Goal: 80 % of the copy bandwidth of the same run, where
// the states do not fit in the caches. Prints bytes a second of each kernel, counted as in the cost model, over those of a
// copy.
//
// Kernels and copies alternate, and the median of the ratios of neighbours is taken: a machine that others use slows both.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <random>
#include <vector>

#include "kernels/backend.h"

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

    Arguments(const DraftTree& draft, ElementType type, int states_written)
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

    static std::size_t rows(const DraftTree& draft) {
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

DraftTree chain(int tokens) {
    std::vector<int> parents;
    for (int i = 0; i + 1 < tokens; ++i) {
        parents.push_back(i);
    }
    return DraftTree::from_parents(parents);
}

DraftTree full_binary(int levels) {
    return DraftTree::from_child_counts(std::vector<int>((std::size_t{1} << (levels - 1)) - 1, 2));
}

class Comparison {
public:
    Comparison() : from_(copied_bytes / 4, ElementType::fp32), to_(copied_bytes / 4, ElementType::fp32) {}

    /// Prints the ratio of the kernel's bytes a second to the copy's, and returns it.
    double print(const char* name, double bytes, const std::function<void()>& kernel) const {
        std::vector<double> ratios, rates;
        kernel();
        for (int round = 0; round < rounds; ++round) {
            const double copy = 2.0 * copied_bytes / seconds_of([&] {
                                    cpu_backend().copy_probe({to_.get(), from_.get(), copied_bytes}, {});
                                });
            const double rate = bytes / seconds_of(kernel);
            ratios.push_back(rate / copy);
            rates.push_back(rate);
        }
        std::nth_element(ratios.begin(), ratios.begin() + rounds / 2, ratios.end());
        std::nth_element(rates.begin(), rates.begin() + rounds / 2, rates.end());
        fmt::print("{:<44} {:6.2f} GB/s   {:5.2f} of a copy\n", name, rates[rounds / 2] * 1e-9, ratios[rounds / 2]);
        return ratios[rounds / 2];
    }
    void print_probes() const {
        unsigned sum = 0;
        print("read probe", copied_bytes, [&] { cpu_backend().read_probe({from_.get(), copied_bytes, &sum}, {}); });
        print("write probe", copied_bytes, [&] { cpu_backend().write_probe({to_.get(), copied_bytes, 7}, {}); });
    }

private:
    Memory from_, to_;
};

}  // namespace

int main() {
    const Comparison comparison;
    comparison.print_probes();
    bool reached = true;
    for (const ElementType type : {ElementType::fp32, ElementType::bf16}) {
        fmt::print("states in {}\n", type == ElementType::bf16 ? "bf16" : "fp32");
        const Arguments one(chain(1), type, 1), five(chain(5), type, 5), small_tree(full_binary(4), type, 1),
            tree(full_binary(6), type, 1);
        const double s = one.state_bytes();
        const auto print = [&](const char* name, double bytes, const std::function<void()>& kernel) {
            reached = comparison.print(name, bytes, kernel) >= 0.8 && reached;
        };
        print("state update", 2 * s + one.token_bytes(), [&] { one.scan(StateWrite::final, true); });
        print("fused scan, 5 tokens, no state written", s + five.token_bytes(), [&] { five.scan(StateWrite::none, true); });
        print("fused scan, 5 tokens, final state", 2 * s + five.token_bytes(), [&] { five.scan(StateWrite::final, true); });
        print("fused scan, 5 tokens, every state", 6 * s + five.token_bytes(), [&] { five.scan(StateWrite::every, true); });
        print("replay of 5 tokens", 2 * s + five.token_bytes() / 2, [&] { five.scan(StateWrite::final, false); });
        print("tree scan, 15 tokens", s + small_tree.token_bytes(), [&] { small_tree.tree_scan(); });
        print("tree scan, 63 tokens", s + tree.token_bytes(), [&] { tree.tree_scan(); });
    }
    fmt::print("goal, at least 0.80 for each: {}\n", reached ? "reached" : "missed");
    return EXIT_SUCCESS;
}
