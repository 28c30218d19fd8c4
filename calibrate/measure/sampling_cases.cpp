// What follows the LM head: which drafted tokens are accepted, and which ones a drafter proposes.
#include "calibrate/measure/kernel_case.h"

namespace treeline::calibrate {
namespace {

kernels::Accepted accepted_on(Workspace& workspace, int sequences, int tokens) {
    const auto ints = [&](int count) { return static_cast<int*>(workspace.scratch(sizeof(int) * std::size_t(count))); };
    return {ints(sequences), ints(sequences * tokens), ints(sequences)};
}

KernelRun prepare_greedy(Workspace& workspace, int sequences, int tokens, int vocabulary, std::size_t logit_bytes) {
    kernels::GreedyVerification verification;
    verification.sequences = sequences;
    verification.vocabulary = vocabulary;
    verification.tree = tree_on(workspace, kernels::packed_tree(chain_tree(tokens)));
    verification.deepest_level = tokens - 1;
    const auto count = std::size_t(sequences) * std::size_t(tokens);
    verification.draft_ids = workspace.integers(std::vector<int>(count, 7));
    verification.argmax = static_cast<int*>(workspace.scratch(sizeof(int) * count));
    verification.accepted = accepted_on(workspace, sequences, tokens);
    return [=, &workspace](kernels::Queue queue) mutable {
        verification.logits = {workspace.next_input(logit_bytes), kernels::ElementType::fp32, vocabulary};
        workspace.backend().greedy_verification(verification, queue);
    };
}

KernelRun prepare_rejection(Workspace& workspace, int sequences, int tokens, int vocabulary, std::size_t logit_bytes) {
    kernels::RejectionVerification verification;
    verification.sequences = sequences;
    verification.vocabulary = vocabulary;
    verification.tree = tree_on(workspace, kernels::packed_tree(chain_tree(tokens)));
    verification.deepest_level = tokens - 1;
    const auto count = std::size_t(sequences) * std::size_t(tokens);
    verification.draft_ids = workspace.integers(std::vector<int>(count, 7));
    // Small random numbers accept every drafted token: the longest walk.
    verification.uniform = workspace.floats(std::vector<float>(count + std::size_t(sequences), 1e-6F));
    verification.row_statistics = static_cast<float*>(workspace.scratch(sizeof(float) * 4 * count));
    verification.accepted = accepted_on(workspace, sequences, tokens);
    return [=, &workspace](kernels::Queue queue) mutable {
        verification.target_logits = {workspace.next_input(logit_bytes), kernels::ElementType::fp32, vocabulary};
        verification.draft_logits = {workspace.next_input(logit_bytes), kernels::ElementType::fp32, vocabulary};
        workspace.backend().rejection_verification(verification, queue);
    };
}

KernelCase sampling_case(bool greedy, int sequences, int tokens, int vocabulary) {
    KernelCase result;
    result.table = "sampling";
    result.columns = {{"method", greedy ? "greedy" : "rejection"},
                      {"batch", std::to_string(sequences)},
                      {"tokens", std::to_string(tokens)},
                      {"vocabulary", std::to_string(vocabulary)}};
    const std::size_t logit_bytes = std::size_t(sequences) * std::size_t(tokens) * std::size_t(vocabulary) * sizeof(float);
    result.largest_piece = 2 * logit_bytes;
    result.prepare = [=](Workspace& workspace) {
        return greedy ? prepare_greedy(workspace, sequences, tokens, vocabulary, logit_bytes)
                      : prepare_rejection(workspace, sequences, tokens, vocabulary, logit_bytes);
    };
    return result;
}

/// A drafter's choices for each row: four, as in a tree that branches.
KernelCase choices_case(int rows, int vocabulary) {
    constexpr int choices = 4;
    KernelCase result;
    result.table = "sampling";
    result.columns = {{"method", "top_choices"},
                      {"batch", std::to_string(rows)},
                      {"tokens", "1"},
                      {"vocabulary", std::to_string(vocabulary)}};
    const std::size_t logit_bytes = std::size_t(rows) * std::size_t(vocabulary) * sizeof(float);
    result.largest_piece = logit_bytes;
    result.prepare = [=](Workspace& workspace) -> KernelRun {
        int* const ids = static_cast<int*>(workspace.scratch(sizeof(int) * std::size_t(rows * choices)));
        return [=, &workspace](kernels::Queue queue) {
            const kernels::ConstRows logits{workspace.next_input(logit_bytes), kernels::ElementType::fp32, vocabulary};
            workspace.backend().top_choices({rows, vocabulary, choices, logits, ids}, queue);
        };
    };
    return result;
}

}  // namespace

std::vector<KernelCase> sampling_cases(const CaseOptions& options) {
    const bool quick = options.thoroughness == Thoroughness::quick;
    const std::vector<int> batches = options.on_gpu ? std::vector{1, 8, 64} : std::vector{1, 4};
    std::vector<KernelCase> cases;
    for (const bool greedy : {true, false}) {
        for (const int vocabulary : {32000, 50288, 65536, 128256}) {
            for (const int batch : batches) {
                for (const int tokens : quick ? std::vector{1, 5} : std::vector{1, 2, 5, 16}) {
                    cases.push_back(sampling_case(greedy, batch, tokens, vocabulary));
                }
            }
        }
    }
    for (const int vocabulary : {32000, 50288, 65536, 128256}) {
        for (const int rows : options.on_gpu ? std::vector{1, 16, 128} : std::vector{1, 4, 16}) {
            cases.push_back(choices_case(rows, vocabulary));
        }
    }
    return cases;
}

}  // namespace treeline::calibrate
