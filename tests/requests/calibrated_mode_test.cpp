// The calibrated cost mode as input files ask for it.
#include <catch2/catch.hpp>

#include "json_input.h"
#include "requests/setup_reader.h"
#include "setups.h"

namespace calibrated_mode_test {

using namespace treeline;
using namespace treeline::requests;
using namespace treeline::testing;

TEST_CASE("calibrated mode is read, labelled, and names the source of its laws once") {
    Input input(R"({"a": {"device": "h100-sxm", "mode": "calibrated"}, "b": {"device": "h100-sxm", "mode": "calibrated"}})");
    const sim::Platform platform = read_platform(input.root.object_or_text("a", "device"), input.descriptions);
    const std::size_t after_one = input.descriptions.provenance().size();
    static_cast<void>(read_platform(input.root.object_or_text("b", "device"), input.descriptions));
    REQUIRE(input.problems().empty());
    CHECK(platform.mode == sim::CostMode::calibrated);
    CHECK(sweeps::label_of(platform) == "h100-sxm, cuda-graph, calibrated mode");
    CHECK(input.descriptions.provenance().size() == after_one);
    const text::Provenance& last = input.descriptions.provenance().back();
    CHECK(last.path == "h100-sxm: calibration");
    CHECK(last.kind == "published");
    CHECK(last.source.find("aiconfigurator, commit 095f58a") != std::string::npos);
}

TEST_CASE("a device without calibration is refused by a sentence that names those with one") {
    Input input(R"({"a": {"device": "mi300x", "mode": "calibrated"}})");
    static_cast<void>(read_platform(input.root.object_or_text("a", "device"), input.descriptions));
    CHECK(input.problems() ==
          "in: a.mode: \"calibrated\" needs measured kernels, and the description of mi300x names neither a "
          "calibration nor a relative (laws_of); measured are a100-sxm-80, arc-pro-b60, b300, gb200, "
          "h100-sxm, l40s and rtx-pro-6000");
}

TEST_CASE("calibrated decoding is slower than the data sheet's, by what kernels lose") {
    // 16.06 GB of bf16 weights (8.03 billion parameters less the embedding table, 0.53 billion) pass in 15.0 GB / 3.35 TB/s
    // = 4.5 ms by the data sheet. Measured GEMMs reach 0.897 of the bandwidth (5.0 ms) and start 4 large kernels a layer, 32
    // layers: some 0.5 ms.
    sim::RoundSetup setup = pair_setup("llama-3-8b", "llama-3.2-1b", platform("h100-sxm", "ideal"));
    const double roofline = sim::evaluate(sim::compile_round(setup), {0, 1.0, 1024.0}).time_per_token.value();
    setup.platform.mode = sim::CostMode::calibrated;
    const double calibrated = sim::evaluate(sim::compile_round(setup), {0, 1.0, 1024.0}).time_per_token.value();
    CHECK(roofline == Approx(4.5e-3).epsilon(0.03));
    CHECK(calibrated > 5.0e-3 + 0.3e-3);
    CHECK(calibrated < 5.0e-3 + 1.5e-3);
}

}  // namespace calibrated_mode_test
