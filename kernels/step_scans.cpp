#include "kernels/check.h"
#include "kernels/delta_scan.h"

namespace treeline::kernels {

void check_steps(const ScanSteps& steps, int width, const char* kernel) {
    require(steps.sequences > 0 && steps.tokens > 0, kernel, "a dimension is not positive");
    require(steps.initial.data != nullptr && steps.initial.type != ElementType::fp64, kernel, "it needs fp32 or bf16 states");
    const bool same_type = steps.written.type == steps.initial.type || steps.written.type == ElementType::fp64;
    require(steps.write == StateWrite::none || (steps.written.data != nullptr && same_type), kernel,
            "the place for the states written is missing or of another type");
    require(steps.y || steps.write != StateWrite::none, kernel, "it would write nothing");
    require(!steps.tree || (steps.y && steps.write == StateWrite::none), kernel,
            "over a tree it has outputs and writes no state");
    require(!steps.tree || steps.tree.tokens == steps.tokens, kernel, "the steps and the tree differ in tokens");
    require(!steps.y || steps.y.stride >= width, kernel, "rows of y overlap");
}

void check(const ChannelScan& scan) {
    const char* kernel = "channel scan";
    require(scan.channels > 0, kernel, "a dimension is not positive");
    require(scan.state_size >= 4 && scan.state_size <= 32 && (scan.state_size & (scan.state_size - 1)) == 0, kernel,
            "state_size is not a power of 2 from 4 to 32");
    check_steps(scan.steps, scan.channels, kernel);
    require(scan.a != nullptr, kernel, "a is missing");
    require_rows(scan.x, scan.channels, kernel, "x");
    require_rows(scan.dt, scan.channels, kernel, "dt");
    require_rows(scan.b, scan.state_size, kernel, "b");
    if (scan.steps.y) {
        require_rows(scan.c, scan.state_size, kernel, "c");
    }
    require(!scan.gate || scan.gate.stride >= scan.channels, kernel, "rows of the gate overlap");
    require_same_type({scan.x, scan.dt, scan.b, scan.c, scan.gate, scan.steps.y}, kernel);
}

void check(const DeltaScan& scan) {
    const char* kernel = "delta scan";
    require(scan.key_heads > 0 && scan.value_heads > 0 && scan.value_heads % scan.key_heads == 0, kernel,
            "the value heads are not a multiple of the key heads");
    require(scan.key_dim > 0 && scan.key_dim % 4 == 0 && scan.key_dim <= 256, kernel,
            "key_dim is not a multiple of 4 up to 256");
    require(scan.value_dim > 0 && scan.value_dim % 4 == 0, kernel, "value_dim is not a multiple of 4");
    check_steps(scan.steps, scan.value_heads * scan.value_dim, kernel);
    require(scan.a != nullptr, kernel, "a is missing");
    require_rows(scan.k, std::int64_t{scan.key_heads} * scan.key_dim, kernel, "k");
    require_rows(scan.v, std::int64_t{scan.value_heads} * scan.value_dim, kernel, "v");
    require_rows(scan.beta, scan.value_heads, kernel, "beta");
    require_rows(scan.decay, scan.value_heads, kernel, "the decay");
    if (scan.steps.y) {
        require_rows(scan.q, std::int64_t{scan.key_heads} * scan.key_dim, kernel, "q");
    }
    require_same_type({scan.q, scan.k, scan.v, scan.beta, scan.decay, scan.steps.y}, kernel);
}

}  // namespace treeline::kernels
