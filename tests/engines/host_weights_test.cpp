// What each engine can do about weights that do not fit, in the words of its own flags.
#include <catch2/catch.hpp>

#include "engines/engine.h"
#include "engines/host_weights.h"

namespace host_weights_test {

using namespace treeline;
using namespace treeline::engines;

namespace {

std::string way(const char* engine, sim::Residence residence) {
    // 39.1 GB are 36.4 GiB.
    return way_to_fit(*engine == '\0' ? std::nullopt : std::optional(find_engine(engine)), {residence, 33, false},
                      Bytes(39.1e9), Bytes(39.9e9));
}

}  // namespace

TEST_CASE("weights that do not fit: every engine gets what it can do", "[engines]") {
    constexpr auto experts = sim::Residence::experts_on_host, all = sim::Residence::host;
    const std::string priced =
        " With the routed experts of its first 33 layers in the host's memory it fits, where that has "
        "room for 39.9 GB: --placement experts:33";
    CHECK(way("", experts) == priced + ".");
    CHECK(way("llama.cpp", experts) == priced + ".");
    CHECK(way("llama.cpp", all) ==
          " With its first 33 layers in the host's memory it fits, where that has room for 39.9 GB: --placement weights:33.");
    CHECK_THAT(way("vllm", experts), Catch::StartsWith(" vLLM's --cpu-offload-gb 37 ") && Catch::Contains("not priced") &&
                                         Catch::EndsWith("--engine llama.cpp --placement experts:33."));
    CHECK_THAT(way("sglang", experts),
               Catch::StartsWith(priced) && Catch::Contains("--kt-num-gpu-experts") && Catch::Contains("--cpu-offload-gb 37"));
    CHECK_THAT(way("sglang", all), Catch::StartsWith(" SGLang's --cpu-offload-gb 37 ") && !Catch::Contains("kt-num") &&
                                       Catch::EndsWith("--placement weights:33."));
    CHECK_THAT(way("tensorrt-llm", experts), Catch::StartsWith(" TensorRT-LLM keeps all weights on its devices") &&
                                                 Catch::EndsWith("--engine llama.cpp --placement experts:33."));
}

}  // namespace host_weights_test
