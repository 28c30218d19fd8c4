// Latent attention and routed experts on GPUs, at the widths of published models.
#include "calibrate/measure/kernel_case.h"

namespace treeline::calibrate {
namespace {

using kernels::ElementType;

/// Absorbed attention over a latent cache (rank 512, rotary 64), as DeepSeek's heads under tensor parallelism.
KernelCase latent_case(int heads, int batch, int tokens, int context) {
    constexpr int latent = 512, turned = 64;
    KernelCase result;
    result.table = "latent_attention";
    // The table's context holds the new tokens.
    result.columns = {{"phase", "decode"},
                      {"heads", std::to_string(heads)},
                      {"batch", std::to_string(batch)},
                      {"query_tokens", std::to_string(tokens)},
                      {"context", std::to_string(context + tokens)},
                      {"kv_dtype", "bf16"}};
    const int capacity = context + tokens;
    const std::size_t cache_bytes = std::size_t(batch) * std::size_t(capacity) * (latent + turned) * sizeof(kernels::Bf16);
    result.largest_piece = cache_bytes;
    result.prepare = [=](Workspace& workspace) -> KernelRun {
        workspace.start_activations();
        const std::int64_t rows = std::int64_t{batch} * tokens;
        kernels::LatentAttention attention;
        attention.sequences = batch;
        attention.tokens = tokens;
        attention.heads = heads;
        attention.latent = latent;
        attention.turned = turned;
        attention.query = workspace.activations(rows, std::int64_t{heads} * (latent + turned), ElementType::bf16);
        attention.output = workspace.results(rows, std::int64_t{heads} * latent, ElementType::bf16);
        attention.capacity = capacity;
        attention.context = workspace.integers(std::vector<int>(std::size_t(batch), context));
        attention.scale = 0.07F;
        return [=, &workspace](kernels::Queue queue) mutable {
            attention.cache = {workspace.next_input(cache_bytes), ElementType::bf16, latent + turned};
            workspace.backend().latent_attention(attention, queue);
        };
    };
    return result;
}

struct Mixture {
    int experts, active, hidden, width;
};

/// A router's logits such that every expert gets its turn: row r chooses the experts from r · active on.
std::vector<float> balanced_logits(const Mixture& mixture, int rows) {
    std::vector<float> logits(std::size_t(rows) * std::size_t(mixture.experts), 0.0F);
    for (int row = 0; row < rows; ++row) {
        for (int place = 0; place < mixture.active; ++place) {
            const int expert = (row * mixture.active + place) % mixture.experts;
            logits[std::size_t(row) * std::size_t(mixture.experts) + std::size_t(expert)] =
                4.0F - 0.1F * static_cast<float>(place);
        }
    }
    return logits;
}

/// Choosing and sorting, both grouped products with the gate between them, and the weighted sum.
KernelRun prepare_experts(Workspace& workspace, const Mixture& mixture, int rows, std::size_t expert_bytes) {
    constexpr ElementType type = ElementType::bf16;
    // No structured binding: Clang 14 captures none.
    const int experts = mixture.experts, active = mixture.active, hidden = mixture.hidden, width = mixture.width;
    const int slots = rows * active;
    workspace.start_activations();
    const auto ints = [&](int count) { return static_cast<int*>(workspace.scratch(sizeof(int) * std::size_t(count))); };
    kernels::ExpertChoice choice;
    choice.rows = rows;
    choice.experts = experts;
    choice.active = active;
    choice.logits = {workspace.floats(balanced_logits(mixture, rows)), ElementType::fp32, experts};
    choice.weight = static_cast<float*>(workspace.scratch(sizeof(float) * std::size_t(slots)));
    choice.slot = ints(slots);
    choice.row_of_slot = ints(slots);
    choice.first_slot = ints(experts + 1);
    const kernels::ConstRows x = workspace.activations(rows, hidden, type);
    const kernels::Rows gate_up = workspace.results(slots, 2 * width, type), inner = workspace.results(slots, width, type);
    const kernels::Rows down = workspace.results(slots, hidden, type), out = workspace.results(rows, hidden, type);
    const kernels::Rows up{static_cast<std::byte*>(gate_up.data) + std::size_t(width) * bytes_of(type), type, gate_up.stride};
    const auto all = static_cast<std::size_t>(experts);
    return [=, &workspace](kernels::Queue queue) {
        const kernels::Backend& backend = workspace.backend();
        backend.expert_choice(choice, queue);
        const kernels::ConstRows first{workspace.next_input(2 * all * expert_bytes), type, hidden};
        const kernels::ConstRows second{workspace.next_input(all * expert_bytes), type, width};
        backend.expert_linear({slots, experts, hidden, 2 * width, x, choice.row_of_slot, first, choice.first_slot, gate_up},
                              queue);
        backend.gated_activation({slots, width, gate_up, up, inner}, queue);
        backend.expert_linear({slots, experts, width, hidden, inner, nullptr, second, choice.first_slot, down}, queue);
        backend.expert_sum({rows, hidden, active, down, choice.slot, choice.weight, {}, {}, out}, queue);
    };
}

KernelCase expert_case(const Mixture& mixture, int rows) {
    KernelCase result;
    result.table = "experts";
    result.columns = {{"dtype", "bf16"},
                      {"tokens", std::to_string(rows)},
                      {"hidden", std::to_string(mixture.hidden)},
                      {"intermediate", std::to_string(mixture.width)},
                      {"top_k", std::to_string(mixture.active)},
                      {"experts", std::to_string(mixture.experts)},
                      {"tp", "1"},
                      {"ep", "1"},
                      {"distribution", "balanced"},
                      {"kernel", "treeline"}};
    const std::size_t expert_bytes = std::size_t(mixture.hidden) * std::size_t(mixture.width) * sizeof(kernels::Bf16);
    result.largest_piece = 2 * std::size_t(mixture.experts) * expert_bytes;
    result.operand_bytes = 3 * std::size_t(mixture.experts) * expert_bytes;
    result.prepare = [=](Workspace& workspace) { return prepare_experts(workspace, mixture, rows, expert_bytes); };
    return result;
}

}  // namespace

std::vector<KernelCase> mixture_cases(const CaseOptions& options) {
    std::vector<KernelCase> cases;
    if (!options.on_gpu) {
        return cases;
    }
    const bool quick = options.thoroughness == Thoroughness::quick;
    for (const int heads : quick ? std::vector{16, 64} : std::vector{16, 32, 64, 128}) {
        for (const int batch : quick ? std::vector{1, 32} : std::vector{1, 8, 32, 128}) {
            for (const int tokens : quick ? std::vector{1} : std::vector{1, 4}) {
                for (const int context : quick ? std::vector{4096} : std::vector{1024, 4096, 32768}) {
                    cases.push_back(latent_case(heads, batch, tokens, context));
                }
            }
        }
    }
    // A rank's part of Qwen3-30B-A3B (whole and halved), Mixtral 8x7B (an eighth), gpt-oss-120b's count (a quarter).
    for (const Mixture& mixture : {Mixture{128, 8, 2048, 768}, Mixture{128, 8, 2048, 384}, Mixture{8, 2, 4096, 1792},
                                   Mixture{64, 6, 2048, 1408}, Mixture{128, 4, 2880, 720}}) {
        for (const int rows : quick ? std::vector{1, 16, 128} : std::vector{1, 4, 16, 64, 128, 512}) {
            cases.push_back(expert_case(mixture, rows));
        }
    }
    return cases;
}

}  // namespace treeline::calibrate
