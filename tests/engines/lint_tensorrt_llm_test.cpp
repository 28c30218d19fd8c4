// Does lint find the mistakes that people make in TensorRT-LLM's files?
#include <catch2/catch.hpp>

#include "lint_findings.h"

namespace lint_tensorrt_llm_test {

using namespace treeline;
using namespace treeline::engines;
using namespace treeline::testing;

TEST_CASE("TensorRT-LLM's YAML") {
    const auto yaml = [](const std::string& lines) { return "speculative_config:\n" + lines; };
    const std::string eagle = "  decoding_type: Eagle3\n  speculative_model: /d\n  max_draft_len: 4\n";
    CHECK(findings(yaml(eagle)) == "");
    CHECK(finds(yaml(eagle + "  draft_len_schedule: {4: 4, 8: 2}\n  max_concurrency: 8\n"), "excludes draft_len_schedule"));
    CHECK(finds(yaml("  decoding_type: Medusa\n  max_draft_len: 4\n  speculative_model: /d\n"),
                "which the PyTorch backend rejects"));
    CHECK(findings("backend: tensorrt\n" + yaml("  decoding_type: Medusa\n  max_draft_len: 4\n  speculative_model: /d\n"),
                   "tensorrt-llm@1.2") == "");
    CHECK(finds(yaml(eagle + "  draft_len_schedule: {4: 3, 8: 2}\n"), "drafts 3 at its smallest key, 4"));
    CHECK(finds(yaml(eagle + "  draft_len_schedule: {4: 4, 8: 5}\n"), "drafts 5 at 8, more than max_draft_len, 4"));
    CHECK(finds(yaml(eagle + "  draft_len_schedule: {0: 4}\n"), "batches count from 1"));
    CHECK(finds(yaml(eagle + "  draft_len_schedule: {1: 4, 8: 0}\n"), "is not read in 1.2 by Eagle3", "tensorrt-llm@1.2"));
    const std::string ngram = "  decoding_type: NGram\n  max_draft_len: 4\n";
    CHECK(findings(yaml(ngram + "  draft_len_schedule: {1: 4, 8: 0}\n"), "tensorrt-llm@1.2") == "");
    CHECK(finds(yaml(ngram + "  draft_len_schedule: {4: 4, 8: 2}\n"), "must hold batch size 1", "tensorrt-llm@1.2"));
    CHECK(findings(yaml(ngram + "  draft_len_schedule: {4: 4, 8: 2}\n")) == "");
    CHECK(finds(yaml(ngram + "  speculative_model: /d\n"), "is not used by NGram"));
    CHECK(finds(yaml(ngram + "  eagle_choices: [[0]]\n"), "belongs to Eagle and Eagle3 and is rejected with NGram",
                "tensorrt-llm@1.3"));
    CHECK(finds(yaml(ngram + "  eagle_choices: [[0]]\n"), "was removed in 1.4"));
    CHECK(finds(yaml(ngram + "  max_matching_ngram_sise: 3\n"), "did you mean \"max_matching_ngram_size\"?"));
    CHECK(finds(yaml("  decoding_type: DraftTarget\n  max_draft_len: 4\n  speculative_model: /d\n"),
                "did you mean \"Draft_Target\"?"));
    CHECK(finds(yaml("  decoding_type: Eagle3\n  max_draft_len: 4\n"), "missing: speculative_model is needed by Eagle3"));
    CHECK(finds(yaml("  decoding_type: Eagle3\n  speculative_model: /d\n"), "missing: max_draft_len"));
    CHECK(finds(yaml("  decoding_type: Eagle3\n  max_draft_len: 4\n  pytorch_weights_path: /d\n"), "became speculative_model"));
    CHECK(finds(yaml(eagle + "  max_batch_size: 4\n"), "passes its own max_batch_size down"));
    CHECK(finds(yaml(eagle + "  max_draft_len: 5\n"), "appears twice"));
    const std::string mtp = "  decoding_type: MTP\n  num_nextn_predict_layers: 3\n";
    CHECK(findings(yaml(mtp)) == "");
    CHECK(notes(yaml(mtp)).find("num_nextn_predict_layers is deprecated since 1.3") == 0);
    CHECK(finds(yaml(mtp + "  max_draft_len: 3\n"), "ignored: num_nextn_predict_layers is not read beside max_draft_len"));
    CHECK(findings(yaml(mtp), "tensorrt-llm@1.2") == "");
    CHECK(finds(yaml("  decoding_type: MTP\n  max_draft_len: 3\n"), "overwritten in 1.2 by num_nextn_predict_layers",
                "trtllm@1.2"));
    CHECK(finds(yaml(eagle + "  use_dynamic_tree: true\n  dynamic_tree_max_topK: 2\n  max_total_draft_tokens: 9\n"),
                "must lie between"));
    CHECK(finds(yaml(eagle + "  use_dynamic_tree: true\n"), "dynamic_tree_max_topK must say"));
    CHECK(finds("tensor_parallel_size: 8\nspeculative_config:\n  max_draft_len: 3\n", "decoding_type is missing"));
    const NamedFiles files = {{"extra.yaml", yaml("  decoding_type: Medusa\n")}};
    CHECK(finds("trtllm-serve m --extra_llm_api_options extra.yaml", "PyTorch backend rejects", "", files));
    CHECK(problem("trtllm-serve m --config none.yaml").find("cannot read none.yaml") != std::string::npos);
}

TEST_CASE("TensorRT-LLM's graphs need the exact batch unless they are padded") {
    const std::string yaml = "speculative_config:\n  decoding_type: MTP\n  max_draft_len: 3\n";
    CHECK(findings(yaml) == "");
    CHECK(finds(yaml + "cuda_graph_config:\n  max_batch_size: 64\n", "downgrade: cuda_graph_config has no enable_padding"));
    CHECK(findings(yaml + "cuda_graph_config:\n  enable_padding: true\n") == "");
    CHECK(finds(yaml + "cuda_graph_config: null\n", "switches CUDA graphs off"));
}

TEST_CASE("numbers of speculation that TensorRT-LLM refuses") {
    const std::string ngram = "speculative_config:\n  decoding_type: NGram\n  max_draft_len: 4\n";
    CHECK(findings(ngram + "  max_matching_ngram_size: 0\n") ==
          "value: max_matching_ngram_size must be a whole number above 0, not 0.\n");
    CHECK(findings(ngram + "  max_matching_ngram_size: 2\n") == "");
    CHECK(finds("speculative_config:\n  decoding_type: NGram\n  max_draft_len: -1\n",
                "value: max_draft_len must be a whole number above 0, not -1"));
    CHECK(findings("speculative_config:\n  decoding_type: SA\n  max_draft_len: 4\n  max_matching_ngram_size: -1\n") == "");
}

TEST_CASE("a file that cannot be read is named by the flag that names it") {
    CHECK(problem("trtllm-serve m --extra_llm_api_options cfg.yaml")
              .starts_with("--extra_llm_api_options: cannot read cfg.yaml"));
    CHECK(problem("trtllm-serve m --config cfg.yaml").starts_with("--config: cannot read cfg.yaml"));
}

}  // namespace lint_tensorrt_llm_test
