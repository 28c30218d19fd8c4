// Matrices of benchmark loads, and what else holds lists of numbers.
#include <catch2/catch.hpp>

#include "requests/load_matrix.h"

namespace load_matrix_test {

using treeline::requests::matrix_in_text;

TEST_CASE("a matrix of loads is told as the command that asks it") {
    CHECK(matrix_in_text("model: Qwen/Qwen3-32B\ngpu: h100-sxm\ntensor_parallel_size: 2\nbatch_sizes: [1, 8, 32]\n"
                         "input_len: [1024, 8192]\noutput_len: 512\nnum_speculative_tokens: [3, 5, 7]\n") ==
          "is a matrix of loads to measure; as a question it is `treeline recommend --target Qwen/Qwen3-32B --device h100-sxm "
          "--tensor-parallel 2 --concurrency 1,8,32 --prompt 1024 --output-tokens 512 --draft-tokens 3,5,7`, and again with "
          "--prompt 8192");
    // Decoding alone, in JSON, without a device.
    CHECK(matrix_in_text(R"({"model": "m", "batch_size": [1, 4], "context_length": 4096})") ==
          "is a matrix of loads to measure; as a question it is `treeline recommend --target m --device NAME --batch 1,4 "
          "--context 4096`");
}

TEST_CASE("nested matrices: parameters of servers and clients, ranges of concurrency") {
    const std::string vllm = matrix_in_text(
        R"([{"test_name": "serving_llama8B_tp1", "qps_list": [1, 4, 16, "inf"], "max_concurrency_list": [12, 16, 24],
             "server_parameters": {"model": "meta-llama/Llama-3.1-8B-Instruct", "tensor_parallel_size": 1},
             "client_parameters": {"backend": "vllm", "random_input_len": 2048, "random_output_len": 128}}])");
    CHECK_THAT(vllm, Catch::Contains("--target meta-llama/Llama-3.1-8B-Instruct") && Catch::Contains("--engine vllm") &&
                         Catch::Contains("--concurrency 12,16,24") && Catch::Contains("--prompt 2048 --output-tokens 128"));
    const std::string inferencex = matrix_in_text(
        "qwen3-fp8-h200:\n  model: Qwen/Qwen3-235B\n  framework: sglang\n  seq-len-configs:\n  - isl: 1024\n    osl: 1024\n"
        "    search-space:\n    - { tp: 8, conc-start: 4, conc-end: 64 }\n");
    CHECK_THAT(inferencex, Catch::Contains("--tensor-parallel 8 --engine sglang --concurrency 4,8,16,32,64") &&
                               Catch::Contains("--prompt 1024 --output-tokens 1024`"));
}

TEST_CASE("a model within a speculative configuration is the drafter; a load of requests needs answers") {
    CHECK(matrix_in_text(
              "server:\n  model: Qwen/Qwen3-32B\n  speculative_config:\n    model: some/eagle3\n"
              "    num_speculative_tokens: 3\nbench:\n  max_concurrency: [1, 8]\n  random_input_len: [1024, 8192]\n") ==
          "is a matrix of loads to measure; as a question it is `treeline recommend --target Qwen/Qwen3-32B --device NAME "
          "--drafter some/eagle3 --concurrency 1,8 --output-tokens TOKENS --prompt 1024 --draft-tokens 3`, and again with "
          "--prompt 8192");
}

TEST_CASE("lists that are no loads make no matrix") {
    CHECK(matrix_in_text("model: m\ncuda_graph_config:\n  batch_sizes: [1, 2, 4]\nmax_batch_size: 8\n").empty());
    CHECK(matrix_in_text(R"({"model": "m", "cudagraph_capture_sizes": [1, 2, 4]})").empty());
    CHECK(matrix_in_text(R"({"target": "llama-3-8b", "traffic": {"batch": [1, 8]}, "platforms": []})").empty());
    // A part of a workload, which flags complete.
    CHECK(matrix_in_text(R"({"draft_tokens": [1, 2, 4], "prompt_tokens": 100, "output_tokens": 50, "title": "t"})").empty());
    CHECK(matrix_in_text(R"([{"model": "m", "batch_size": [1, 2], "tpot_ms": 4.2}])").empty());  // measured
    CHECK(matrix_in_text("model: m\nmax_num_seqs: 64\n").empty());                               // no list
    CHECK(matrix_in_text("a: [1, 2").empty());
    // A word that a shell would run is not repeated.
    CHECK_THAT(matrix_in_text("model: '$(reboot)'\nisl: 128\nbs: [1, 2]\ntp: 2\n"), !Catch::Contains("reboot"));
}

}  // namespace load_matrix_test
