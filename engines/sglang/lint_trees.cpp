#include "engines/sglang/lint_trees.h"

#include <vector>

#include <fmt/format.h>

namespace treeline::engines::sglang {
namespace {

using Kind = FindingKind;

constexpr const char* width_flag_of_steps = "--speculative-eagle-topk";

/// The back ends of attention that a command names, those for decoding or prompts alone included.
std::vector<const Flag*> attention_flags(const Flags& flags) {
    std::vector<const Flag*> named;
    for (const char* name : {"--attention-backend", "--decode-attention-backend", "--prefill-attention-backend"}) {
        if (const Flag* flag = flags.find({name}); flag != nullptr && flag->value) {
            named.push_back(flag);
        }
    }
    return named;
}

/// Trees that a back end's kernels cannot verify: a ValueError at the start (server_args.py and arg_groups/speculative_hook.py
/// of all known versions; on pages of several tokens, 0.5.9 takes fewer back ends than are named here). NGRAM drafts trees as
/// wide as --speculative-ngram-max-bfs-breadth, which is 10 unless it is said.
void check_tree_kernels(const Flags& flags, const std::string& algorithm, Findings& findings) {
    const bool looked_up = algorithm == "NGRAM";
    const char* width_flag = looked_up ? "--speculative-ngram-max-bfs-breadth" : width_flag_of_steps;
    if (flags.number({width_flag}).value_or(looked_up ? 10 : 1) <= 1 || (!looked_up && !drafts_in_steps(algorithm))) {
        return;
    }
    for (const Flag* flag : attention_flags(flags)) {
        if (*flag->value == "trtllm_mha" && !looked_up) {
            findings.add(
                Kind::contradiction, flag->name,
                fmt::format("is trtllm_mha, which verifies chains only: the server ends at start-up; set {} 1, or take "
                            "fa3, flashinfer or triton",
                            width_flag));
        }
    }
    const Flag* attention = flags.find({"--attention-backend"});
    const std::string backend = attention != nullptr ? attention->value.value_or("") : "";
    // Its kernels have pages of their own length, whatever --page-size says (SGLang,
    // docs/advanced_features/attention_backend.md).
    const bool own_pages = is_one_of(backend, {"flashmla", "cutlass_mla", "trtllm_mla"});
    const bool takes_trees = looked_up ? backend == "flashinfer" : is_one_of(backend, {"flashinfer", "fa3", "triton"});
    if (backend.empty() || takes_trees || (!own_pages && flags.number({"--page-size"}).value_or(1) <= 1) ||
        (backend == "trtllm_mha" && !looked_up)) {
        return;
    }
    findings.add(
        Kind::contradiction, "--attention-backend",
        fmt::format("is {}, which verifies no trees on pages of several tokens: the server ends at start-up; set {} 1, "
                    "or take {}",
                    backend, width_flag, looked_up ? "flashinfer" : "fa3, flashinfer or triton"));
}

/// One pool for the caches of hybrids (server_args.py, _handle_unified_memory_pool of August to November 2026).
void check_unified_memory(const Flags& flags, const std::string& algorithm, Findings& findings) {
    const char* unified_flag = "--enable-unified-memory";
    if (!flags.has({unified_flag})) {
        return;
    }
    if (flags.number({width_flag_of_steps}).value_or(1) > 1) {
        findings.add(
            Kind::contradiction, unified_flag,
            fmt::format("is refused with trees: the server ends at start-up; set {} 1, or leave it out", width_flag_of_steps));
    } else if (algorithm != "DSPARK") {
        findings.note(
            fmt::format("{} goes with DSPARK alone in the first sources that have it, which refuse {} at start-up: look "
                        "whether your build takes it.",
                        unified_flag, algorithm));
    }
}

}  // namespace

void check_trees(const Flags& flags, const std::string& algorithm, Findings& findings) {
    check_tree_kernels(flags, algorithm, findings);
    check_unified_memory(flags, algorithm, findings);
}

}  // namespace treeline::engines::sglang
