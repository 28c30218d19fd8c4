// What llama.cpp does in a round by itself: common/arg.cpp (--flash-attn is auto since b6325, pull request 15434), its server,
// which samples before it builds the next batch, and ggml's CUDA graphs, which are captured anew where nodes change.
#include "engines/llama_cpp/parts.h"

namespace treeline::engines::llama_cpp {
namespace {

EngineHabit of_graph(const sim::Device& device) {
    if (device.kind == sim::DeviceKind::cpu || device.metal) {
        return {"none", "its back end for this device computes operation after operation", ""};
    }
    return device.compute_capability > 0.0
               ? EngineHabit{"whole", "a pass of the same shape as the one before is replayed, another one captured anew",
                             "GGML_CUDA_DISABLE_GRAPHS=1"}
               : EngineHabit{};
}

}  // namespace

EngineHabits habits(const Engine& /*engine*/, const sim::RoundSetup& setup) {
    return {{"FlashAttention where the back end has it", "the default of --flash-attn (auto)", "--flash-attn off"},
            of_graph(setup.platform.device),
            is_looked_up(setup) ? looked_up()
                                : EngineHabit{"launched by the host, pass by pass",
                                              "its server decodes and samples one draft before the next", ""},
            {"after each round", "its server samples on the host before it builds the next batch", ""}};
}

}  // namespace treeline::engines::llama_cpp
